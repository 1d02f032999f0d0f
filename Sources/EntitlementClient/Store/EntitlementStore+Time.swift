import Entitlements

/// How a clock that was behind was put right while the program ran.
struct ClockCorrection: Sendable {
    /// The last instant by the clock that was behind.
    let last: Instant
    /// By how much it was put forward.
    let milliseconds: Int64
}

/// Clocks, and what happens by itself.
extension EntitlementStore {
    /// Goes by the server's clock from now on, and says where the device's is ahead (row Z17).
    func noteClock(serverSays instant: Instant?) {
        guard let instant else { return }
        let (last, before) = (options.clock.now, options.clock.ahead)
        options.clock.note(serverSays: instant)
        noteCorrection(since: last)
        let ahead = options.clock.ahead
        // Written only where it was or is wrong: the disk is left alone otherwise.
        guard abs(before &- ahead) > ServiceClock.tolerance else { return }
        cache.keep(clockAhead: ahead)
        if ahead > 0 { notices.send(.clockAhead(milliseconds: ahead)) }
    }

    /// Lets what the store has just verified be as young by the clock that was put right (row Z17).
    private func noteCorrection(since last: Instant) {
        let (moved, overflow) = options.clock.now.milliseconds.subtractingReportingOverflow(
            last.milliseconds
        )
        guard !overflow, moved.magnitude > ServiceClock.tolerance.magnitude else { return }
        correction = moved > 0 ? ClockCorrection(last: last, milliseconds: moved) : nil
        set(provisional: current.provisional)
    }

    /// Notices a clock that was set back, by the newest time that was ever seen (row Z17).
    ///
    /// `instant`: the server's, which mends a time that a wrong clock left.
    func noteTime(serverSays instant: Instant?) {
        let now = options.clock.now
        if let newestSeen, now.advanced(byMilliseconds: Self.clockTolerance) < newestSeen {
            if let instant, instant.advanced(byMilliseconds: Self.clockTolerance) < newestSeen {
                self.newestSeen = instant
                cache.keep(newestSeen: instant)
            } else {
                notices.send(.clockSetBack(newest: newestSeen))
            }
            return
        }
        let seen = max(now, instant ?? now)
        if let newestSeen, seen < newestSeen.advanced(byMilliseconds: Self.seenStep) { return }
        guard seen.isPlausible, customer != nil else { return }
        newestSeen = seen
        cache.keep(newestSeen: seen)
    }

    /// Lets a question that nobody answered be asked again by itself, later each time (row 8.1).
    ///
    /// Without it, one call that is lost at the end of a period keeps what was renewed closed until the app asks.
    func askAgain(after verdict: CallFault.Verdict) {
        retryAt = nil
        if case .later(let asked) = verdict {
            failures += 1
            if failures < options.backoff.attemptLimit {
                let pause = options.backoff.pause(
                    after: failures,
                    asked: asked,
                    random: options.time.random()
                )
                retryAt = options.clock.now.advanced(byMilliseconds: pause)
            }
        }
        setAlarm()
    }

    /// Lets it be asked again by itself: somebody tries again.
    func lift() { failures = 0 }

    /// Waits for the next instant at which an answer changes by itself, tells it and asks the server, and for
    /// the one at which it is asked again.
    func setAlarm() {
        alarm?.cancel()
        alarm = nil
        guard isStarted else { return }
        let change = current.nextChange(after: options.clock.now)
        guard let instant = [change, retryAt].compactMap({ $0 }).min() else { return }
        let time = options.time
        alarm = Task { [weak self] in
            // Whoever is stopped meanwhile waits for nothing any more.
            guard (try? await time.sleep(instant)) != nil else { return }
            await self?.ring(change)
        }
    }

    /// `change`: the next instant at which an answer was to change; nil: none was.
    private func ring(_ change: Instant?) async {
        guard isStarted else { return }
        // A device that slept may come to ask again behind the change.
        if let change, change <= options.clock.now {
            failures = 0
            changes.send(current)
        }
        // One that was set meanwhile does not ring as well.
        alarm?.cancel()
        (alarm, retryAt) = (nil, nil)
        await refresh()
        if alarm == nil { setAlarm() }
    }
}
