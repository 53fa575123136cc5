-- What a prompt's Lua may reach, and how long it may run. One state holds one section of one run.
--
-- The guest's environment is built from an allow-list. No value of Python's is ever put into this state: what crosses
-- the border are strings, numbers and booleans, as arguments and results of `step`.
--
-- Everything the guest could replace is taken into locals first, and no method is called on a string here: its
-- metatable leads to the guest's own library.

local error, type, select, next, tostring = error, type, select, next, tostring
local pcall, setmetatable, getmetatable, rawget, rawset = pcall, setmetatable, getmetatable, rawget, rawset
local create, resume, yield, running = coroutine.create, coroutine.resume, coroutine.yield, coroutine.running
local isyieldable, close, status = coroutine.isyieldable, coroutine.close, coroutine.status
local clock, sethook, real_meta = os.clock, debug.sethook, debug.getmetatable
local concat, pack = table.concat, table.pack
local format, sub = string.format, string.sub
local floor, math_type = math.floor, math.type
local WEAK_KEYS = { __mode = 'k' }

local HOOK_EVERY = 200 -- instructions: some of them take milliseconds, those that copy long strings
local SPENT_EVERY = 1 -- once the budget is spent, nothing of the guest's gets further than one instruction
local MOST_NESTED = 100 -- protected calls inside each other; deeper ones fail
local MOST_LOGS = 200 -- lines kept between two steps
local LONGEST_LOG = 2000 -- bytes
local NO_MEMORY = 'not enough memory' -- Lua's own words, which reach a pcall as an error

return function(most_steps, most_seconds)
  local HOST = {} -- what a yield to the host begins with; the guest never sees it
  local SPENT = setmetatable({}, { __tostring = function() return 'the budget is spent' end, __metatable = false })
  local kit = {}
  local main

  ---------------------------------------------------------------- the budget

  local steps, seconds, started = 0, 0, 0
  local spent = false
  local hook

  -- Count `cost` instructions and stop the guest for good when they, or its time, are used up. Called by the hook, and
  -- after every return from a protected call: a hook that fails itself, at the end of the C stack, is caught there.
  local function charge(cost)
    steps = steps + cost
    if spent or steps > most_steps or seconds + clock() - started > most_seconds then
      spent = true
      sethook(hook, '', SPENT_EVERY)
      error(SPENT, 0)
    end
  end

  hook = function() charge(HOOK_EVERY) end

  local function hooked(f)
    local co = create(f)
    sethook(co, hook, '', HOOK_EVERY)
    return co
  end

  -- Protected calls nest without end in a coroutine, and Lua takes quadratic time to unwind them: so they are counted.
  local depth = 0

  local function settled(...)
    depth = depth - 1
    charge(1)
    return ...
  end

  local function checked(...)
    charge(1)
    return ...
  end

  local function guarded(f, ...)
    if depth >= MOST_NESTED then return false, 'too many protected calls inside each other' end
    depth = depth + 1
    return settled(pcall(f, ...))
  end

  ---------------------------------------------------------------- error values and frozen objects

  local frozen = setmetatable({}, WEAK_KEYS) -- proxy -> its fields
  local kinds = setmetatable({}, WEAK_KEYS) -- error value -> true

  local function fail(kind, message, name)
    local fields = { kind = kind, message = message, name = name }
    local value = {}
    frozen[value], kinds[value] = fields, true
    error(setmetatable(value, {
      __index = fields,
      __newindex = function(_, key) fail('lua', format('error values are frozen: cannot assign field "%s"', tostring(key))) end,
      __tostring = function() return message end,
      __concat = function(a, b) return tostring(a) .. tostring(b) end,
      __metatable = 'error',
    }), 0)
  end

  -- A read-only view of `fields`; the guest holds the view alone. `what` names it in messages.
  local function freeze(what, fields, extra)
    local view = {}
    frozen[view] = fields
    local meta = {
      __index = fields,
      __newindex = function(_, key)
        fail('lua', format('%s objects are frozen: cannot assign field "%s"', what, tostring(key)))
      end,
      __len = function() return #fields end,
      __tostring = function() return what end,
      __metatable = what,
    }
    for name, method in next, extra or {} do meta[name] = method end
    return setmetatable(view, meta)
  end

  ---------------------------------------------------------------- calls to the host

  local function answered(ok, ...)
    if ok then return ... end
    fail(...)
  end

  -- Ask the host: op, then strings and numbers. Its answer comes back, or its failure as an error value.
  local function host(op, ...)
    if not isyieldable() then
      fail('lua', 'the host cannot be called inside a comparison, a gsub callback or a __tostring')
    end
    return answered(yield(HOST, op, ...))
  end

  local logs = {}
  local function log(...)
    local words = pack(...)
    for i = 1, words.n do words[i] = tostring(words[i]) end
    if #logs < MOST_LOGS then logs[#logs + 1] = sub(concat(words, ' '), 1, LONGEST_LOG) end
  end

  local function taken_logs()
    if logs[1] == nil then return nil end
    local text = concat(logs, '\n')
    logs = {}
    return text
  end

  ---------------------------------------------------------------- coroutines of the guest

  -- A coroutine that calls the host yields through every one around it, out to `step` and back.
  local relayed
  local depths = setmetatable({}, WEAK_KEYS) -- coroutine -> protected calls it is inside of

  local function resumed(co, ...)
    if type(co) ~= 'thread' then return resume(co, ...) end -- which says what is wrong
    local outer = depth
    depth = depths[co] or 0
    return relayed(co, outer, resume(co, ...))
  end

  relayed = function(co, outer, ok, tag, ...)
    depths[co], depth = depth, outer
    charge(1)
    if ok and tag == HOST then return resumed(co, yield(HOST, ...)) end
    return ok, tag, ...
  end

  local function unwrapped(co, ok, ...)
    if ok then return ... end
    if status(co) == 'dead' then guarded(close, co) end
    error((...), 0)
  end

  local coroutines = {
    create = hooked,
    resume = resumed,
    status = status,
    isyieldable = isyieldable,
    wrap = function(f)
      local co = hooked(f)
      return function(...) return unwrapped(co, resumed(co, ...)) end
    end,
    yield = function(...)
      if running() == main then error('attempt to yield from outside a coroutine', 2) end
      return yield(...)
    end,
    running = function()
      local co = running()
      return co, co == main
    end,
    close = function(co)
      co = co or running()
      if co == main then error('cannot close the main coroutine', 2) end
      return checked(close(co))
    end,
  }

  ---------------------------------------------------------------- the environment

  local function copy(of)
    local new = {}
    for name, value in next, of do new[name] = value end
    return new
  end

  local env = {
    _VERSION = _VERSION,
    assert = assert,
    error = error,
    getmetatable = getmetatable,
    ipairs = ipairs,
    next = next,
    pcall = guarded,
    print = log,
    rawequal = rawequal,
    rawget = rawget,
    rawlen = rawlen,
    rawset = function(t, key, value)
      if frozen[t] then fail('lua', format('%s objects are frozen: cannot assign field "%s"', getmetatable(t), tostring(key))) end
      return rawset(t, key, value)
    end,
    select = select,
    setmetatable = function(t, meta)
      if type(meta) == 'table' and rawget(meta, '__gc') ~= nil then error('__gc is not supported', 2) end
      return setmetatable(t, meta)
    end,
    tonumber = tonumber,
    tostring = tostring,
    type = type,
    xpcall = function(f, handler, ...)
      return (function(ok, ...)
        if ok then return true, ... end
        return false, select(2, guarded(handler, ...))
      end)(guarded(f, ...))
    end,
    coroutine = coroutines,
    math = copy(math),
    utf8 = copy(utf8),
  }
  env._G = env

  ---------------------------------------------------------------- running it

  local function text_of(value)
    if math_type(value) == 'float' and value == floor(value) and value > -0x1p63 and value < 0x1p63 then
      return format('%d', value)
    end
    return tostring(value)
  end

  -- Run the blocks in order until one returns something. before: called with each block's number.
  local function blocks_of(blocks, before_block)
    for i = 1, #blocks do
      before_block(i)
      local value = blocks[i]()
      local kind = type(value)
      if kind == 'string' or kind == 'number' or kind == 'boolean' then return text_of(value) end
      if value ~= nil then fail('lua', format('cannot return a %s as a result', kind)) end
    end
    return nil
  end

  local function described(err)
    if kinds[err] then return frozen[err].kind, frozen[err].message, frozen[err].name end
    if type(err) == 'table' and not (real_meta(err) or {}).__tostring then
      return 'lua', '(error object is a table value)'
    end
    local ok, text = guarded(tostring, err)
    return 'lua', ok and text or '(error object has no text)'
  end

  local function ended(err)
    if err == NO_MEMORY then return 'spent', 'memory' end
    return 'failed', described(err)
  end

  -- In the main coroutine, so that whatever the guest's values do when they are looked at is on its budget too.
  local function body(blocks, before_block, finish)
    local ok, value = guarded(blocks_of, blocks, before_block)
    if not ok then return ended(value) end
    local fine, ending = guarded(finish)
    if not fine then return ended(ending) end
    return 'done', value, ending
  end

  function kit.begin(blocks, before_block, finish)
    main = hooked(function() return body(blocks, before_block, finish) end)
  end

  local function reported(ok, tag, ...)
    seconds = seconds + clock() - started
    if spent or not ok then
      return 'spent', taken_logs(), spent and 'time' or tag == NO_MEMORY and 'memory' or 'stack'
    end
    if tag == HOST then return 'call', taken_logs(), ... end
    return tag, taken_logs(), ...
  end

  -- Let the guest run until it calls the host or ends. Returns how it stands, the lines it logged, and the rest.
  function kit.step(...)
    started = clock()
    return reported(resume(main, ...))
  end

  function kit.used() return steps, seconds end

  kit.env, kit.host, kit.fail, kit.freeze, kit.frozen, kit.log = env, host, fail, freeze, frozen, log
  kit.charge = charge
  return kit
end
