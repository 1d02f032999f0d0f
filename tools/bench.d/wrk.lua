-- What wrk asks: constant | access KEY CUSTOMERS | signals FILE COUNT RATE PATH [TOKEN]
--
-- Ends with one line of JSON. `signals` sends each line of the file once, at most RATE a second
-- (0: as fast as it is answered), and what it measures ends with the last answer.

local threads = {}
wrong, answered, first, last = 0, 0, 0, 0

local ffi = require("ffi")
ffi.cdef[[
  typedef struct { long seconds; long nanoseconds; } moment;
  int clock_gettime(int clock, moment *now);
  int getpid(void);
  int kill(int process, int signal);
]]
local moment = ffi.new("moment")
local function now()
  ffi.C.clock_gettime(1, moment)
  return tonumber(moment.seconds) + tonumber(moment.nanoseconds) / 1e9
end

function setup(thread)
  table.insert(threads, thread)
end

-- wrk asks for a first request that it does not send.
local sent = -1
local kind, bodies, due, count, rate, start = nil, nil, 0, 0, 0, nil

function init(arguments)
  kind = arguments[1]
  if kind == "constant" then
    local fixed = wrk.format("GET", "/healthz")
    request = function() return fixed end
  elseif kind == "access" then
    local made, customers = {}, tonumber(arguments[3])
    for number = 1, customers do
      made[number] = wrk.format("GET", "/v1/customers/c" .. (number - 1) .. "/features/export",
        { Authorization = "Bearer " .. arguments[2] })
    end
    request = function()
      sent = sent + 1
      return made[sent % customers + 1]
    end
  else
    bodies = {}
    for line in io.lines(arguments[2]) do bodies[#bodies + 1] = line end
    count, rate = tonumber(arguments[3]), tonumber(arguments[4])
    local path, headers = arguments[5], { ["Content-Type"] = "application/json" }
    if arguments[6] then headers["Authorization"] = "Bearer " .. arguments[6] end
    -- Until a request is due the connection waits; the rest of the run asks nothing more.
    delay = function()
      if not start then start = now() end
      due = due + 1
      if due > count then return 60000 end
      if rate == 0 then return 0 end
      return math.max(0, math.floor(1000 * (start + due / rate - now())))
    end
    request = function()
      sent = sent + 1
      if sent > count then return wrk.format("GET", "/healthz") end
      return wrk.format("POST", path, headers, bodies[math.max(1, sent)])
    end
  end
end

function response(status, headers, body)
  if kind == "signals" then
    if answered >= count then return end
    if not string.find(body, '"appended"', 1, true) then wrong = wrong + 1 end
    answered = answered + 1
    if first == 0 then first = now() end
    last = now()
    -- Else wrk would wait for the end of the time it was given: SIGINT ends it as usual.
    if answered >= count then ffi.C.kill(ffi.C.getpid(), 2) end
  elseif status ~= 200 then
    wrong = wrong + 1
  end
end

function done(summary, latency)
  local requests, seconds = summary.requests, summary.duration / 1e6
  local errors = summary.errors
  local failures = errors.connect + errors.read + errors.write + errors.timeout
  for _, thread in ipairs(threads) do
    if thread:get("answered") > 0 then
      -- Every line was answered; what SIGINT interrupted then is no error.
      failures = 0
      requests, seconds = thread:get("answered"), thread:get("last") - thread:get("first")
    end
    failures = failures + thread:get("wrong")
  end
  io.write(string.format(
    '{"requests":%d,"seconds":%.6f,"wrong":%d,"p50":%.3f,"p99":%.3f}\n',
    requests, seconds, failures, latency:percentile(50) / 1000, latency:percentile(99) / 1000))
end
