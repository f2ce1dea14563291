local t = {3, 1, 2, a = 1, [1.5] = true}
for k, v in pairs(t) do t[k] = nil end
table.insert(t, 1, 0) table.sort(t, function(a, b) return a > b end) table.remove(t)
local s = ('x'):rep(3, '-') .. string.format('%s %5.2f %d', 'a', 1.5, 7) .. table.concat({1, 2}, ',')
s = s:sub(1, -2):upper():lower():reverse() s:byte(1, -1) string.char(65) s:find('.', 1, true)
function choose(view)
  local ok, why = pcall(error, {}) xpcall(choose, tostring, math.random(3, 9))
  for i, v in ipairs(view) do goto next ::next:: end
  return select('#', table.unpack(table.pack(1, 2))), tonumber('0x1p4'), math.tointeger(2.0) // 1
end
