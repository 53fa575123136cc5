-- The library functions that need a guard: `pairs` in a fixed order, and those that count or copy in C, where no hook
-- runs. What those will do is charged before they do it.

local error, type, select, next, tonumber = error, type, select, next, tonumber
local rawget, rawlen, real_meta = rawget, rawlen, debug.getmetatable
local concat, create, sort, unpack, pack = table.concat, table.create, table.sort, table.unpack, table.pack
local format, rep = string.format, string.rep
local floor, math_type = math.floor, math.type

local UNIT = 64 -- bytes copied, or elements moved, that count like one instruction
local LONG_STRING = 4096 -- bytes, below which looking at all of them is nothing

return function(kit, most_steps)
  local env, charge, frozen = kit.env, kit.charge, kit.frozen

  -- Keys in a fixed order: the array part, booleans, numbers, strings by their bytes, then the rest.
  local RANK = { boolean = 1, number = 2, string = 3 }
  local function before(a, b)
    local x, y = RANK[type(a)], RANK[type(b)]
    if x ~= y then return x < y end
    if x == 1 then return not a and b end
    return a < b
  end

  local function ordered(t)
    local keys, rest, n = {}, {}, rawlen(t)
    for i = 1, n do keys[i] = i end
    local sorted = {}
    for key in next, t do
      if math_type(key) == 'integer' and key >= 1 and key <= n then -- stands there already
      elseif RANK[type(key)] then sorted[#sorted + 1] = key
      else rest[#rest + 1] = key end
    end
    sort(sorted, before)
    for i = 1, #sorted do keys[n + i] = sorted[i] end
    n = #keys
    for i = 1, #rest do keys[n + i] = rest[i] end
    return keys
  end

  local function walk(t)
    local fields = frozen[t] or t
    local keys, at = ordered(fields), 0
    return function()
      local value
      repeat
        at = at + 1
        if keys[at] == nil then return nil end
        value = rawget(fields, keys[at])
      until value ~= nil
      return keys[at], value
    end
  end

  local function pairs_of(t)
    local meta = not frozen[t] and type(t) == 'table' and real_meta(t)
    if meta and meta.__pairs then return meta.__pairs(t) end
    if type(t) ~= 'table' then error(format("bad argument #1 to 'pairs' (table expected, got %s)", type(t)), 2) end
    return walk(t), t, nil
  end

  -- The table functions count in C, where no hook runs: what they will count is charged first, and a length that a
  -- metamethod gives is none.
  local function counted(t, name)
    if type(t) ~= 'table' then return 0 end
    local meta = real_meta(t)
    if meta and not frozen[t] and meta.__len then
      error(format("'%s' takes no table whose length a metamethod gives", name), 3)
    end
    return #t
  end

  local function charged(name, f)
    return function(t, ...)
      charge(counted(t, name) // UNIT)
      return f(t, ...)
    end
  end

  local function span(first, last)
    first, last = tonumber(first) or 1, tonumber(last) or 0
    if last < first then return 0 end
    local wide = last - first
    if wide < 0 or wide > most_steps then return most_steps + 1 end
    return floor(wide) // UNIT
  end

  local function charged_span(span_of, f)
    return function(...)
      charge(span_of(...))
      return f(...)
    end
  end

  local tables = {
    concat = function(t, separator, first, last)
      charge(counted(t, 'concat') // UNIT + span(first, last))
      return concat(t, separator, first, last or #t)
    end,
    insert = charged('insert', table.insert),
    remove = charged('remove', table.remove),
    sort = function(t, compare)
      local n = counted(t, 'sort')
      charge(n + n // UNIT)
      return sort(t, compare)
    end,
    move = charged_span(function(_, first, last) return span(first, last) end, table.move),
    unpack = function(t, first, last) return unpack(t, first or 1, last or #t) end,
    pack = pack,
    create = function(n, m)
      charge(span(1, n) + span(1, m))
      return create(n, m or 0)
    end,
  }

  local strings = {}
  for name, f in next, string do
    if name ~= 'dump' then strings[name] = f end
  end
  local function by_length(f)
    return function(s, ...)
      if type(s) == 'string' and #s > LONG_STRING then charge(#s // UNIT) end
      return f(s, ...)
    end
  end

  for _, name in next, { 'find', 'gmatch', 'gsub', 'lower', 'match', 'reverse', 'upper', 'byte' } do
    strings[name] = by_length(string[name])
  end
  for _, name in next, { 'len', 'offset', 'codepoint' } do env.utf8[name] = by_length(utf8[name]) end
  strings.rep = function(s, n, separator)
    if type(s) ~= 'string' or n == nil then return rep(s, n, separator) end
    local size = #s + (type(separator) == 'string' and #separator or 0)
    if size == 0 then return '' end -- or it would count to n for nothing
    charge(span(1, size * (tonumber(n) or 0)))
    return rep(s, n, separator)
  end

  local string_meta = real_meta('')
  string_meta.__index = strings
  string_meta.__metatable = 'string'

  env.pairs, env.string, env.table = pairs_of, strings, tables
end
