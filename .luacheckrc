std = "luajit"
max_line_length = 120
files["spec"] = { std = "+busted" }
files["examples"] = { std = "+busted", ignore = { "143/assert" } } -- what lunette.test adds to assert
files["examples/nginx"] = { read_globals = { "ngx" } }
files["examples/tarantool"] = { read_globals = { "box" }, globals = { "place_order" } }
files["examples/minetest"] = { read_globals = { "minetest" }, globals = { "lunette_scores" } }
