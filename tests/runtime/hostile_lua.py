"""Lua that means harm: endless, swelling, nested, forged. Each row: what it is, the Lua, the run error it ends in.

None: it does no harm and ends well. Hostile patterns stand apart: nothing in a process can stop one.
"""

from __future__ import annotations

CASES: list[tuple[str, str, str | None]] = [
    ("an endless while", "while true do end", "Quota"),
    ("an endless goto", "::a:: goto a", "Quota"),
    ("endless tail calls", "local function f() return f() end f()", "Quota"),
    ("recursion without end", "local function f() return 1+f() end f()", "Quota"),
    ("loops inside pcall inside a loop", "while true do pcall(function() while true do end end) end", "Quota"),
    ("pcalls that nest without end", "local function f() while true do pcall(f) end end f()", "Quota"),
    (
        "a handler that loops",
        ("while true do xpcall(function() while true do end end, function() while true do end end) end"),
        "Quota",
    ),
    ("pcall and gsub in turns", "local function f() while true do pcall(string.gsub,'x','x',f) end end f()", "Quota"),
    (
        "a loop at the end of the C stack, by gsub",
        (
            "local function g(n) if n==0 then while true do pcall(function() local i=0 while true do "
            "i=i+1 end end) end end string.gsub('x','x',function() g(n-1) end) end for n=150,200 do "
            "pcall(g,n) end"
        ),
        "Quota",
    ),
    (
        "a loop at the end of the C stack, by sort",
        (
            "local function g(n) if n==0 then while true do pcall(function() while true do end end) end "
            "end table.sort({1,2},function() g(n-1) end) end for n=60,200 do pcall(g,n) end"
        ),
        "Quota",
    ),
    (
        "a __tostring that loops",
        "local t=setmetatable({},{__tostring=function() while true do end end}) tostring(t)",
        "Quota",
    ),
    (
        "an error value whose text loops",
        "error(setmetatable({},{__tostring=function() while true do end end}))",
        "Quota",
    ),
    ("a printed value that loops", "print(setmetatable({},{__tostring=function() while true do end end}))", "Quota"),
    (
        "a to-be-closed variable that loops",
        "local t <close> = setmetatable({},{__close=function() while true do end end}) error('x')",
        "Quota",
    ),
    (
        "to-be-closed variables in a loop of pcalls",
        (
            "while true do pcall(function() local t <close> = setmetatable({},{__close=function() while "
            "true do end end}) end) end"
        ),
        "Quota",
    ),
    (
        "closing that opens another",
        (
            "local mt={} mt.__close=function() local t<close> =setmetatable({},mt) while true do end "
            "end local t <close> = setmetatable({},mt) while true do end"
        ),
        "Quota",
    ),
    ("a loop in a coroutine", "coroutine.wrap(function() while true do end end)()", "Quota"),
    (
        "loops in coroutine after coroutine",
        ("while true do local co=coroutine.create(function() while true do end end) coroutine.resume(co) end"),
        "Quota",
    ),
    (
        "coroutines that nest without end",
        ("local function f() local co=coroutine.create(f) while true do coroutine.resume(co) pcall(f) end end f()"),
        "Quota",
    ),
    ("coroutines without end", "local t={} while true do t[#t+1]=coroutine.create(function() end) end", "Quota"),
    (
        "a generator without end",
        "for x in coroutine.wrap(function() while true do coroutine.yield(1) end end) do end",
        "Quota",
    ),
    (
        "closing that loops",
        (
            "while true do local co=coroutine.create(function() local t<close> "
            "=setmetatable({},{__close=function() while true do end end}) coroutine.yield() end) "
            "coroutine.resume(co) coroutine.close(co) end"
        ),
        "Quota",
    ),
    (
        "a coroutine that closes itself",
        "coroutine.wrap(function() coroutine.close(coroutine.running()) end)() while true do end",
        "Quota",
    ),
    ("closing the main coroutine", "coroutine.close(coroutine.running()) while true do end", "Lua"),
    (
        "an index chain without end",
        "local t=setmetatable({},{__index=function(t,k) return t[k+1] end}) return t[1]",
        "Lua",
    ),
    ("a finaliser", "while true do setmetatable({},{__gc=function() while true do end end}) end", "Lua"),
    ("a table bomb", "local t={} for i=1,1e9 do t[i]=i end", "Quota"),
    ("a string bomb", "local s='x' while true do s=s..s end", "Quota"),
    (
        "string bombs in a loop of pcalls",
        "while true do pcall(function() local s='x' while true do s=s..s end end) end",
        "Quota",
    ),
    ("a repetition too large", "return #('x'):rep(1e10)", "Quota"),
    ("a repetition of nothing", "return (''):rep(1e18)", None),
    ("a repetition beyond memory", "return ('x'):rep(1e15)", "Quota"),
    ("copying in single instructions", "local s=('x'):rep(2e7) while true do local t=s..s end", "Quota"),
    ("long strings in capitals", "local s=('x'):rep(2e7) while true do s:upper() end", "Quota"),
    ("a move over all integers", "table.move({},1,math.maxinteger-1,2)", "Quota"),
    ("a move of what is not there", "table.move(setmetatable({},{__index=function() return 1 end}),1,1e15,2)", "Quota"),
    (
        "an insert with a false length",
        "table.insert(setmetatable({},{__len=function() return 1e15//1|0 end}),1,1)",
        "Lua",
    ),
    (
        "a remove with a false length",
        "table.remove(setmetatable({},{__len=function() return 1000000000000 end}),1)",
        "Lua",
    ),
    (
        "a sort with a false length",
        "table.sort(setmetatable({},{__len=function() return 2000000000 end}),rawequal)",
        "Lua",
    ),
    ("a concat of nothing", "table.concat({},'',1,1e12)", "Quota"),
    ("an unpack too large", "return select('#',table.unpack({},1,1e8))", "Lua"),
    ("a table made too large", "table.create(1e9)", "Quota"),
    (
        "an order that is none",
        ("local t={} for i=1,1000 do t[i]=i end while true do table.sort(t,function(a,b) return true end) end"),
        "Lua",
    ),
    ("sorts in C", "local t={} for i=1,2e6 do t[i]=(i*7919)%1000003 end while true do table.sort(t) end", "Quota"),
    ("JSON nested too deep", "local s=('['):rep(1e6) json.decode(s)", "Lua"),
    ("JSON too large", "while true do json.decode('['..('1,'):rep(1e6)..'1]') end", "Quota"),
    ("a cycle as JSON", "local t={} t.t=t return json.encode(t)", "Lua"),
    (
        "pairs over and over",
        "local t={} for i=1,1e5 do t[i..'']=i end while true do for k in pairs(t) do end end",
        "Quota",
    ),
    (
        "a __pairs without end",
        ("for k in pairs(setmetatable({},{__pairs=function() return function() return 1 end end})) do end"),
        "Quota",
    ),
    ("a __len that loops", "local t=setmetatable({},{__len=function() while true do end end}) return #t", "Quota"),
    (
        "a format that loops",
        "string.format('%s',setmetatable({},{__tostring=function() while true do end end}))",
        "Quota",
    ),
    ("logging without end", "while true do print(('x'):rep(1000)) end", "Quota"),
    ("a loop in a gmatch", "for x in ('a'):rep(100):gmatch('') do while true do end end", "Quota"),
    ("an error that is a table", "error({})", "Lua"),
    (
        "an assertion whose text loops",
        "assert(false,setmetatable({},{__tostring=function() while true do end end}))",
        "Quota",
    ),
    ("stacks that overflow in a loop", "local function f() return f() .. 'x' end while true do pcall(f) end", "Quota"),
    ("a var with a metatable", "var = setmetatable({},{__pairs=function() while true do end end}) ", None),
    ("a var with a function", "var.x=print", "Lua"),
    ("counting characters", "local s=('x'):rep(1e7) while true do utf8.len(s) end", "Quota"),
    ("walking over characters", "for p,c in utf8.codes(('x'):rep(3e7)) do end", "Quota"),
    ("bytes without end", "while true do pcall(string.byte,('x'):rep(1e6),1,-1) end", "Quota"),
    (
        "joining large tables",
        "local t={} for i=1,1e6 do t[i]='xxxxxxxxxx' end while true do table.concat(t) end",
        "Quota",
    ),
]

PATTERNS: list[tuple[str, str]] = [
    ("a pattern that backtracks for ever", "return ('a'):rep(50000):find('.-.-.-.-.-b')"),
    ("a pattern caught by pcall", "while true do pcall(string.find, ('a'):rep(50000), '.-.-.-.-.-b') end"),
    ("a pattern in a coroutine", "coroutine.wrap(function() return ('a'):rep(50000):gsub('.-.-.-.-.-b', '') end)()"),
    ("a plain search of the worst kind", "return (('a'):rep(2e7)):find(('a'):rep(1e7) .. 'b', 1, true)"),
]
"""Each computes for hours inside one instruction."""

ESCAPES: list[tuple[str, str]] = [
    ("no debug library", "debug"),
    ("no io library", "io"),
    ("no os library", "os"),
    ("no package library", "package"),
    ("no require", "require"),
    ("no load", "load"),
    ("no loadstring", "loadstring"),
    ("no loadfile", "loadfile"),
    ("no dofile", "dofile"),
    ("no collectgarbage", "collectgarbage"),
    ("no warn", "warn"),
    ("no python", "python"),
    ("no dump of functions", "string.dump"),
    ("no dump by way of a string", "('').dump"),
    ("no dump by way of the metatable of strings", "getmetatable('').__index"),
    ("no python by way of _G", "_G.python"),
    ("no fields by rawget", "rawget(tools, 'call')"),
    ("no fields of a frozen object", "next(tools)"),
    ("no fields of an error value", "next(select(2, pcall(tools.call, 'nope')))"),
]
"""Expressions that must be nil, or fail."""
