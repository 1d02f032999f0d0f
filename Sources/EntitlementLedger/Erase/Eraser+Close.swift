package import EventLog

/// An erasure that another machine of a cluster has not finished.
extension Eraser {
    /// Has nobody told of whom it erases, where the log says so: their keys may stand for as long as nobody leads.
    ///
    /// - Throws: `LogStorageFault`.
    package func close(_ erasure: VaultErasure) throws {
        // What is noted and said by no event may be given up yet.
        guard try recordedSequence(of: erasure) != nil else { return }
        try opened.whole.close(erasure.streams)
        questions.accessCache.removeAll()
    }
}
