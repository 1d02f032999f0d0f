import Encodings
import Entitlements

/// Telling the store what the server has recorded (row ES5).
extension SyncQueue {
    /// Milliseconds for which the store is waited for.
    static let patience: Int64 = 10_000

    /// Whether the store has not returned yet from what it was told of a call.
    func isBeingFinished(_ call: QueuedCall) -> Bool {
        call.phase == .recorded && finishing.contains(call.id)
    }

    /// Has the store finish a call's transactions, and waits for it no longer than a time.
    ///
    /// A store that does not return holds up nothing: the call is noted as finished once it has. Of each call it is
    /// told once until then; where the program ends before, anew at the next start.
    func finishAll(of call: QueuedCall) async {
        let id = Name(call.id)
        // One that has not returned from another call would be waited for again and again.
        let isSilent = !finishing.isEmpty
        guard !calls.contains(where: { $0.id.isSame(as: call.id) && $0.isFinished }),
            finishing.insert(id).inserted
        else { return }
        Task { await self.tellStore(of: call) }
        guard !isSilent else { return }
        let end = time.now().advanced(byMilliseconds: Self.patience)
        let alarm = Task { [time] in
            // Called off where the store came first.
            guard (try? await time.sleep(end)) != nil else { return }
            self.goOn(behind: id)
        }
        defer { alarm.cancel() }
        await withCheckedContinuation { storeWaiters[id] = $0 }
    }

    private func tellStore(of call: QueuedCall) async {
        for transaction in call.transactions { await finish(transaction) }
        let id = Name(call.id)
        finishing.remove(id)
        // Nothing is noted of what is gone: its customer was switched.
        if let place = calls.firstIndex(where: { $0.id.isSame(as: call.id) }) {
            calls[place].isFinished = true
            write(calls[place].state)
        }
        goOn(behind: id)
    }

    private func goOn(behind id: Name) { storeWaiters.removeValue(forKey: id)?.resume() }
}
