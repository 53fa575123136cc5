-- Put a section together: the sandbox, its library, JSON, the environment, the blocks. Returns what the host calls.

local load, error = load, error

return function(sandbox, library, json, environment, steps, seconds, setting)
  local kit = sandbox(steps, seconds)
  library(kit, steps)
  json(kit)
  local set_prose, finish = environment(kit, setting)
  local blocks, proses = {}, {}

  -- code: what the host compiled itself; no text or bytecode of a prompt's making comes this way.
  local function add(code, prose)
    local block, why = load(code, nil, 'b', kit.env)
    blocks[#blocks + 1], proses[#proses + 1] = block or error(why), prose
  end

  local function start()
    kit.begin(blocks, function(i) set_prose(proses[i]) end, finish)
    return kit.step()
  end

  return add, start, kit.step, kit.used
end
