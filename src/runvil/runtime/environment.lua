-- What the engine gives a section: tools, packs, models, messages, prose, untrusted, log, args, var (spec 3.6 to 3.11).
-- The host is asked with JSON text; everything that needs no host is decided here.

local type, next, tonumber, tostring, setmetatable = type, next, tonumber, tostring, setmetatable
local rawget, rawset, ipairs = rawget, rawset, ipairs
local format, gsub, gmatch, match = string.format, string.gsub, string.gmatch, string.match
local sort = table.sort
local math_type = math.type

-- setting: JSON of what the host says of this section. Returns what the walk carries on to the next.
return function(kit, setting)
  local env, host, fail, freeze, frozen = kit.env, kit.host, kit.fail, kit.freeze, kit.frozen
  local arrays = kit.arrays
  setting = kit.decode(setting)

  local function json_of(value, what)
    local text, why = kit.encode(value)
    return text or fail('lua', format('%s (%s)', what, why))
  end

  ---------------------------------------------------------------- Tool and Pack objects

  local catalog, packs_by_id, packs_in_order, kinds = {}, {}, {}, {}

  for _, entry in ipairs(setting.packs) do
    local tools = {}
    local fields = { id = entry.id, name = entry.name, tools = freeze('Pack tools', tools) }
    local pack = freeze('Pack', fields)
    kinds[pack] = { pack = entry }
    for i, tool in ipairs(entry.tools) do
      local object = freeze('Tool', { id = tool.id, description = tool.description, pack = pack })
      kinds[object] = { tool = tool.id }
      tools[i], catalog[tool.id] = object, object
    end
    packs_by_id[entry.id] = pack
    packs_in_order[#packs_in_order + 1] = pack
  end

  local function id_of(x)
    if type(x) == 'string' then return x end
    local kind = kinds[x]
    return kind and kind.tool
  end

  ---------------------------------------------------------------- tools

  local counts = {}
  for id in next, catalog do counts[id] = 0 end

  local function counted(more)
    for id, n in next, more do counts[id] = (counts[id] or 0) + n end
  end

  local scope, in_scope, wires, descriptions = {}, {}, {}, {}
  local always, in_always = {}, {}
  arrays[always] = true

  local function enter(id, description)
    if not in_scope[id] then scope[#scope + 1], in_scope[id] = id, true end
    if description then descriptions[id] = description end
  end

  -- The ids that `x` names, all of them checked: one bad name, and nothing is offered.
  local function ids_of(x, who, description)
    local one = id_of(x)
    if description ~= nil and type(description) ~= 'string' then
      fail('lua', format('%s takes a string as description, got %s', who, type(description)))
    end
    if not one and (type(x) ~= 'table' or frozen[x]) then
      fail('lua', format('%s takes a tool id, a Tool object or an array of them, got %s', who, type(x)))
    end
    if not one and description then fail('lua', who .. ' takes a description for a single tool') end
    local ids = {}
    for i, item in ipairs(one and { one } or x) do
      local id = id_of(item)
      if not id then fail('lua', format('%s takes tool ids, got %s', who, type(item))) end
      if not catalog[id] then fail('lua', format('%s: "%s" is not a catalog tool in this run', who, id)) end
      ids[i] = id
    end
    return ids
  end

  local function check_wires(ids, who)
    local seen = {}
    for _, id in ipairs(ids) do
      local wire = gsub(id, '[/.]', '_')
      local other = seen[wire] or wires[wire]
      if other and other ~= id then fail('lua', format('%s: "%s" and "%s" have one wire name', who, other, id)) end
      seen[wire] = id
    end
    for wire, id in next, seen do wires[wire] = id end
  end

  local function offer(x, description, who)
    local ids = ids_of(x, who, description)
    check_wires(ids, who)
    for _, id in ipairs(ids) do enter(id, description) end
    return ids
  end

  local function remember(id, description)
    if not in_always[id] then
      in_always[id] = { id = id }
      always[#always + 1] = in_always[id]
    end
    in_always[id].description = description or in_always[id].description
  end

  for _, entry in ipairs(setting.always) do
    offer(entry.id, entry.description, 'tools.always_offer')
    remember(entry.id, entry.description)
  end

  local function call(x, args)
    local id = id_of(x)
    if not id then fail('lua', 'tools.call takes a tool id or a Tool object, got ' .. type(x)) end
    if args ~= nil and type(args) ~= 'table' then fail('lua', 'args must be a table, got ' .. type(args)) end
    if not catalog[id] then
      fail('unbound_tool', format('tool "%s" is not a catalog tool in this run', id), id)
    end
    local text = args == nil and '{}' or kit.encode(args)
    if not text or match(text, '^[^{]') then fail('lua', 'args must be a JSON-representable table') end
    counts[id] = counts[id] + 1
    return host('tool', id, text)
  end

  env.tools = freeze('tools', {
    call = call,
    get = function(id)
      if type(id) ~= 'string' then fail('lua', 'tools.get takes a tool id, got ' .. type(id)) end
      return catalog[id]
    end,
    offer = function(x, description) offer(x, description, 'tools.offer') end,
    always_offer = function(x, description)
      for _, id in ipairs(offer(x, description, 'tools.always_offer')) do remember(id, description) end
    end,
    calls = freeze('tools.calls', counts),
  })

  ---------------------------------------------------------------- packs

  local function pack_of(x)
    if kinds[x] and kinds[x].pack then return x, kinds[x].pack end
    if type(x) ~= 'string' then return nil end
    local pack = packs_by_id[match(x, '[^/]*$')]
    if pack and (not match(x, '/') or pack.name == x) then return pack, kinds[pack].pack end
  end

  local function packs_where(required)
    local found = {}
    for _, pack in ipairs(packs_in_order) do
      local entry = kinds[pack].pack
      if entry.required == required and not entry.unavailable then found[#found + 1] = pack end
    end
    return found
  end

  env.packs = freeze('packs', {
    offer = function(x)
      local pack, entry = pack_of(x)
      if not pack then
        local name = type(x) == 'string' and format('"%s"', x) or type(x)
        fail('lua', format('packs.offer: %s is not a Pack in this run', name))
      end
      if entry.unavailable then
        fail('lua', format('packs.offer: the %s Pack is unavailable in this run: %s', entry.id, entry.unavailable))
      end
      local ids = {}
      for i, tool in ipairs(entry.tools) do ids[i] = tool.id end
      sort(ids)
      offer(ids, nil, 'packs.offer')
    end,
    get = function(x)
      local pack, entry = pack_of(x)
      return pack and not entry.unavailable and pack or nil
    end,
    required = function() return packs_where(true) end,
    extras = function() return packs_where(false) end,
  })

  ---------------------------------------------------------------- messages

  local lists, new_list = {}, nil
  setmetatable(lists, { __mode = 'k' })

  local function records_of(list, who)
    return lists[list] or fail('lua', format('%s is called on a list of messages, as in messages:%s(…)', who, who))
  end

  local function append(records, record) records[#records + 1] = freeze('Message', record) end

  local function adder(role)
    return function(list, content, id)
      local records = records_of(list, role)
      if type(content) ~= 'string' then
        fail('lua', format('messages:%s expects a string, got %s', role, type(content)))
      end
      append(records, { role = role, content = content, tool_call_id = role == 'tool' and id or nil })
    end
  end

  local ROLES = { system = true, user = true, assistant = true, tool = true }

  local methods = {
    new = function() return new_list() end,
    append = function(list, record)
      local records = records_of(list, 'append')
      local fields = frozen[record] or record
      if type(fields) ~= 'table' or not ROLES[fields.role] or type(fields.content) ~= 'string' then
        fail('lua', 'messages:append expects a table with a role and a content')
      end
      local id, calls = fields.tool_call_id, fields.tool_calls
      append(records, { role = fields.role, content = fields.content, tool_call_id = id, tool_calls = calls })
    end,
  }
  for role in next, ROLES do methods[role] = adder(role) end

  new_list = function()
    local records = {}
    local list = freeze('messages', records, {
      __index = function(_, key)
        if math_type(key) == 'integer' then return records[key] end
        return methods[key]
      end,
    })
    lists[list] = records
    return list
  end

  env.messages = new_list()
  local section_list = env.messages

  ---------------------------------------------------------------- models

  local roles, selected = {}, nil
  for _, label in ipairs(setting.roles) do roles[label] = true end

  local function take(records, text)
    for _, record in ipairs(kit.decode(text)) do
      if record.tool_calls then
        for i, one in ipairs(record.tool_calls) do record.tool_calls[i] = freeze('Message', one) end
        record.tool_calls = freeze('Message', record.tool_calls)
      end
      append(records, record)
    end
  end

  env.models = freeze('models', {
    use = function(label)
      if type(label) ~= 'string' then fail('lua', 'models.use takes a role label, got ' .. type(label)) end
      if not roles[label] then fail('lua', format('models.use label "%s" is not a bound model role', label)) end
      selected = label
    end,
    loop = function(list)
      local records = lists[list == nil and section_list or list]
      if not records then fail('lua', 'models.loop takes a list of messages or nothing, got ' .. type(list)) end
      if not selected then fail('internal', 'model binding required for section ' .. setting.section) end
      local tools = {}
      arrays[tools] = true
      for i, id in ipairs(scope) do tools[i] = { id = id, description = descriptions[id] } end
      local copy = {}
      arrays[copy] = true
      for i, record in ipairs(records) do copy[i] = record end
      local sent = json_of(copy, 'messages must hold UTF-8 text')
      local new, used, kind, message, name = host('loop', selected, sent, json_of(tools, 'tools'))
      take(records, new)
      counted(kit.decode(used))
      if kind then fail(kind, message, name) end
    end,
  })

  ---------------------------------------------------------------- prose, args, var and the rest

  local function value_at(path, whole)
    local value = env
    for name in gmatch(path, '[^.]+') do
      local fields = frozen[value] or value
      if type(fields) ~= 'table' then fail('lua', format('prose: %s has no value', whole)) end
      value = rawget(fields, name)
      if value == nil and math_type(tonumber(name)) then value = rawget(fields, tonumber(name)) end
    end
    local kind = type(value)
    if kind ~= 'string' and kind ~= 'number' and kind ~= 'boolean' then
      fail('lua', format('prose: %s has no value', whole))
    end
    return tostring(value)
  end

  local function filled(text)
    return (gsub(text, '{{%s*(.-)%s*}}', function(path)
      local whole = '{{ ' .. path .. ' }}'
      if not match(path, '^[%a_][%w_]*[%w_.]*$') then fail('lua', format('prose: %s is not a name', whole)) end
      return value_at(path, whole)
    end))
  end

  local raw_prose, prose = '', nil

  env.args = freeze('args', setting.args)
  env.var = kit.decode(setting.var)
  env.log = kit.log
  env.untrusted = function(text)
    if type(text) ~= 'string' then fail('lua', 'untrusted expects a string, got ' .. type(text)) end
    return host('wrap', text)
  end

  local function assign(_, key, value)
    if key == 'prose' then fail('lua', 'prose is read-only') end
    rawset(env, key, value)
  end

  local guarded_rawset = env.rawset
  env.rawset = function(t, key, value)
    if t == env then assign(t, key, value) return t end
    return guarded_rawset(t, key, value)
  end

  setmetatable(env, {
    __index = function(_, key)
      if key ~= 'prose' then return nil end
      prose = prose or filled(raw_prose)
      return prose
    end,
    __newindex = assign,
    __metatable = 'environment',
  })

  return function(text) raw_prose, prose = text, nil end, function()
    return json_of({ var = env.var == nil and {} or env.var, always = always }, 'var must hold JSON data')
  end
end
