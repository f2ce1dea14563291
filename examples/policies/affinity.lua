-- The least loaded device, where having run such tasks before counts for two tasks less.
function choose(view)
  local choices = {}
  for _, queue in ipairs(view.queues) do
    local best, least
    for i, device in ipairs(queue.devices) do
      local load = device.held + (queue.item_ms[i] > 0 and 0 or 2)
      if device.free > 0 and (not best or load < least) then
        best, least = device, load
      end
    end
    if best then
      best.held, best.free = best.held + 1, best.free - 1
      table.insert(choices, {queue.jobs[1], best})
    end
  end
  return choices
end
