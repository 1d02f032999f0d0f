public import Entitlements
import EventLog

extension Ledger {
    /// Records a submission: all of its events or none (E2), durably when this returns (E3).
    ///
    /// - Returns: what became of it; a refusal is a value.
    /// - Throws: `LedgerFault`, `LogStorageFault`.
    public func record(_ submission: Submission) throws -> Receipt {
        try record([submission])[0]
    }

    /// Records submissions in their order, as few commits as their decisions allow.
    public func record(
        _ submissions: [Submission],
        recordedAt: [Instant?]? = nil
    ) throws -> [Receipt] {
        try requireWriter()
        var recorder = BatchRecorder(self)
        for (index, submission) in submissions.enumerated() {
            try recorder.add(submission, recordedAt: recordedAt?[index])
        }
        return try recorder.finish()
    }

    /// Records submissions in their order up to the first that is refused, whose receipt is the
    /// last; nothing behind it is recorded.
    public func recordUntilRefused(
        _ submissions: [Submission],
        recordedAt: [Instant?]? = nil
    ) throws -> [Receipt] {
        try requireWriter()
        var recorder = BatchRecorder(self, stopsAtRefusal: true)
        for (index, submission) in submissions.enumerated() {
            try recorder.add(submission, recordedAt: recordedAt?[index])
            if recorder.isStopped { break }
        }
        return try recorder.finish()
    }

    /// Records one submission together with whoever else is waiting (group commit).
    public func record(concurrently submission: Submission) async throws -> Receipt {
        try requireWriter()
        let recorder = BatchRecorder(self)
        switch try recorder.prepare(submission, recordedAt: nil) {
        case .settled(let receipt): return receipt
        case .sealed(let sealed):
            let outcome = try await writer.append(sealed)
            if let receipt = try recorder.receipt(outcome, sealed, submission) { return receipt }
        }
        return try await writer.alone { [self] append in
            try decideAlone(append) { append in
                let recorder = BatchRecorder(self)
                switch try recorder.prepare(submission, recordedAt: nil) {
                case .settled(let receipt): return receipt
                case .sealed(let sealed):
                    return try recorder.receipt(append([sealed])[0], sealed, submission)
                }
            }
        }
    }

    func requireWriter() throws {
        guard !isReadOnly else {
            throw LedgerFault(.readOnly, "the ledger was opened to be read")
        }
    }
}

extension Submission {
    /// Whether something is decided at append.
    var decides: Bool { !claims.isEmpty || !links.isEmpty }
}

extension Event {
    /// The attributes in which another event under the same id differs (E1), by their path.
    func differences(from known: Event) -> [String] {
        var differing: [String] = []
        if kind != known.kind { differing.append("type") }
        if subject != known.subject { differing.append("subject") }
        if time != known.time { differing.append("time") }
        if observedAt != known.observedAt { differing.append("data.observedAt") }
        if data.document?.withoutTimeZones != known.data.document?.withoutTimeZones {
            differing.append("data")
        }
        for field in Field.allCases where data[field] != known.data[field] {
            differing.append("data." + field.name)
        }
        return differing
    }
}

extension JSONValue {
    /// A catalog document as it was handed in, without what publish resolved (K10).
    var withoutTimeZones: JSONValue {
        .object(
            (members ?? []).filter { $0.name != "timeZones" }
                .sorted { $0.name < $1.name }
        )
    }
}
