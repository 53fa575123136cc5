-- JSON for the guest: `json.encode`, `json.decode`, `json.array`, `json.null`, and the same for what crosses the border.
-- In Lua, so that it is on the guest's own budget of time and memory. Members that are null are absent, entries that
-- are null are `json.null`.

local error, type, next, tostring, tonumber, select = error, type, next, tostring, tonumber, select
local rawget, rawlen, setmetatable, pcall = rawget, rawlen, setmetatable, pcall
local byte, char, find, format, gsub, match, sub = string.byte, string.char, string.find, string.format, string.gsub, string.match, string.sub
local concat, sort = table.concat, table.sort
local math_type, huge = math.type, math.huge
local utf8_char, utf8_len = utf8.char, utf8.len

local DEEPEST = 100 -- levels: deeper is a cycle, or an attack

local ESCAPES = { ['"'] = '\\"', ['\\'] = '\\\\', ['\b'] = '\\b', ['\f'] = '\\f', ['\n'] = '\\n', ['\r'] = '\\r', ['\t'] = '\\t' }
for i = 0, 31 do
  local c = char(i)
  ESCAPES[c] = ESCAPES[c] or format('\\u%04x', i)
end
local UNESCAPES = { b = '\b', f = '\f', n = '\n', r = '\r', t = '\t', ['"'] = '"', ['\\'] = '\\', ['/'] = '/' }

return function(kit)
  local frozen, fail = kit.frozen, kit.fail
  local arrays = setmetatable({}, { __mode = 'k' })
  local null = kit.freeze('json.null', {})

  ---------------------------------------------------------------- encode: nil and a reason when a value has no form

  local encode

  local function encode_string(s)
    if not utf8_len(s) then return nil, 'a string that is not UTF-8' end
    return '"' .. gsub(s, '[%c"\\]', ESCAPES) .. '"'
  end

  local function encode_number(v)
    if math_type(v) == 'integer' then return format('%d', v) end
    if v ~= v or v == huge or v == -huge then return nil, 'a number that is not finite' end
    local text = format('%.17g', v)
    return find(text, '[.e]') and text or text .. '.0'
  end

  local function encode_array(t, n, depth)
    local parts = {}
    for i = 1, n do
      local text, why = encode(rawget(t, i), depth)
      if not text then return nil, why end
      parts[i] = text
    end
    return '[' .. concat(parts, ',') .. ']'
  end

  local function encode_object(keys, t, depth)
    sort(keys)
    for i = 1, #keys do
      local name, why = encode_string(keys[i])
      if not name then return nil, why end
      local text, reason = encode(rawget(t, keys[i]), depth)
      if not text then return nil, reason end
      keys[i] = name .. ':' .. text
    end
    return '{' .. concat(keys, ',') .. '}'
  end

  local function encode_table(t, depth)
    if t == null then return 'null' end
    if depth > DEEPEST then return nil, 'a table that holds itself, or is nested too deep' end
    local fields, n, names, count = frozen[t] or t, 0, {}, 0
    n = rawlen(fields)
    for key in next, fields do
      if type(key) == 'string' then names[#names + 1] = key
      elseif math_type(key) == 'integer' and key >= 1 and key <= n then count = count + 1
      else return nil, format('a key of the type %s', type(key)) end
    end
    if count ~= n or n > 0 and names[1] then return nil, 'a table with both names and positions, or gaps' end
    if n > 0 or arrays[t] and not names[1] then return encode_array(fields, n, depth + 1) end
    return encode_object(names, fields, depth + 1)
  end

  encode = function(v, depth)
    local kind = type(v)
    if kind == 'string' then return encode_string(v) end
    if kind == 'number' then return encode_number(v) end
    if kind == 'boolean' then return tostring(v) end
    if kind == 'table' then return encode_table(v, depth) end
    if kind == 'nil' then return 'null' end
    return nil, 'a ' .. kind
  end

  ---------------------------------------------------------------- decode: every reader returns a value and where it ended

  local BROKEN = {}
  local read

  local function broken(what, at)
    BROKEN.text = format('%s at byte %d', what, at)
    error(BROKEN, 0)
  end

  local function blank(s, at) return select(2, find(s, '^[ \n\r\t]*', at)) + 1 end

  local function read_escaped_point(s, at)
    local code = tonumber(match(s, '^%x%x%x%x', at) or broken('bad escape', at), 16)
    at = at + 4
    if code >= 0xD800 and code <= 0xDBFF then
      local low = tonumber(match(s, '^\\u(%x%x%x%x)', at) or '0', 16)
      if low >= 0xDC00 and low <= 0xDFFF then
        return utf8_char(0x10000 + (code - 0xD800) * 0x400 + (low - 0xDC00)), at + 6
      end
    end
    if code >= 0xD800 and code <= 0xDFFF then code = 0xFFFD end -- half a pair is no character
    return utf8_char(code), at
  end

  local function read_string(s, at)
    local parts, n = nil, 0
    local from = at
    while true do
      local stop = find(s, '["\\%c]', at)
      if not stop then broken('string without its end', from - 1) end
      local c = byte(s, stop)
      if c == 34 then
        local last = sub(s, at, stop - 1)
        if n == 0 then return last, stop + 1 end
        return concat(parts, '', 1, n) .. last, stop + 1
      end
      if c == 127 then -- %c holds DEL, JSON allows it
        parts = parts or {}
        n = n + 1
        parts[n], at = sub(s, at, stop), stop + 1
      else
        if c ~= 92 then broken('control character in a string', stop) end
        parts = parts or {}
        parts[n + 1] = sub(s, at, stop - 1)
        local letter = sub(s, stop + 1, stop + 1)
        if letter == 'u' then
          parts[n + 2], at = read_escaped_point(s, stop + 2)
        else
          parts[n + 2], at = UNESCAPES[letter] or broken('bad escape', stop), stop + 2
        end
        n = n + 2
      end
    end
  end

  local function read_number(s, at)
    local _, stop = find(s, '^-?0', at)
    if not stop then _, stop = find(s, '^-?[1-9]%d*', at) end
    if not stop then broken('unexpected character', at) end
    local whole = stop
    stop = select(2, find(s, '^%.%d+', stop + 1)) or stop
    stop = select(2, find(s, '^[eE][-+]?%d+', stop + 1)) or stop
    local value = tonumber(sub(s, at, stop))
    if stop > whole and math_type(value) == 'integer' then value = value + 0.0 end
    return value, stop + 1
  end

  local function read_array(s, at, depth)
    local t, n = {}, 0
    arrays[t] = true
    at = blank(s, at)
    if byte(s, at) == 93 then return t, at + 1 end
    while true do
      local value
      value, at = read(s, at, depth)
      n = n + 1
      if value == nil then value = null end
      t[n] = value
      at = blank(s, at)
      local c = byte(s, at)
      if c == 93 then return t, at + 1 end
      if c ~= 44 then broken("expected ',' or ']'", at) end
      at = at + 1
    end
  end

  local function read_object(s, at, depth)
    local t = {}
    at = blank(s, at)
    if byte(s, at) == 125 then return t, at + 1 end
    while true do
      at = blank(s, at)
      if byte(s, at) ~= 34 then broken('expected a name', at) end
      local name, value
      name, at = read_string(s, at + 1)
      at = blank(s, at)
      if byte(s, at) ~= 58 then broken("expected ':'", at) end
      value, at = read(s, at + 1, depth)
      t[name] = value
      at = blank(s, at)
      local c = byte(s, at)
      if c == 125 then return t, at + 1 end
      if c ~= 44 then broken("expected ',' or '}'", at) end
      at = at + 1
    end
  end

  local WORDS = { [116] = { 'true', true }, [102] = { 'false', false }, [110] = { 'null', nil } }

  read = function(s, at, depth)
    if depth > DEEPEST then broken('nested too deep', at) end
    at = blank(s, at)
    local c = byte(s, at)
    if c == 34 then return read_string(s, at + 1) end
    if c == 123 then return read_object(s, at + 1, depth + 1) end
    if c == 91 then return read_array(s, at + 1, depth + 1) end
    local word = WORDS[c]
    if word then
      if sub(s, at, at + #word[1] - 1) ~= word[1] then broken('unexpected character', at) end
      return word[2], at + #word[1]
    end
    if c == nil then broken('unexpected end', at) end
    return read_number(s, at)
  end

  local function whole(s)
    local value, at = read(s, 1, 0)
    at = blank(s, at)
    if at <= #s then broken('something after the value', at) end
    return value
  end

  local function decode(s)
    local ok, value = pcall(whole, s)
    if ok then return value end
    if value == BROKEN then return nil, BROKEN.text end
    error(value, 0)
  end

  ---------------------------------------------------------------- what the guest gets

  kit.encode = function(v) return encode(v, 0) end
  kit.decode, kit.arrays = decode, arrays
  kit.env.json = kit.freeze('json', {
    null = null,
    encode = function(v)
      local text, why = encode(v, 0)
      return text or fail('lua', 'json.encode: there is no JSON for ' .. why)
    end,
    decode = function(s)
      if type(s) ~= 'string' then fail('lua', 'json.decode expects a string, got ' .. type(s)) end
      local value, why = decode(s)
      if why then fail('lua', 'json.decode: ' .. why) end
      return value
    end,
    array = function(t)
      if t == nil then t = {} end
      if type(t) ~= 'table' or frozen[t] then fail('lua', 'json.array expects a table, got ' .. type(t)) end
      arrays[t] = true
      return t
    end,
  })
end
