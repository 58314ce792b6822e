std = "luajit"
max_line_length = 120
files["spec"] = { std = "+busted" }
files["examples"] = { std = "+busted", ignore = { "143/assert" } } -- what lunette.test adds to assert
