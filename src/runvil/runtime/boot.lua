-- Put a section together: the sandbox, its library, JSON, the environment, the blocks. Returns what the host calls.

local load, error, next, globals = load, error, next, _G

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

  -- The state's own globals go first: everything of ours is in locals, and the guest has an environment of its own. Were
  -- there a way to them all the same, it would lead to an empty table.
  local function start()
    for name in next, globals do globals[name] = nil end
    kit.begin(blocks, function(i) set_prose(proses[i]) end, finish)
    return kit.step()
  end

  return add, start, kit.step, kit.used
end
