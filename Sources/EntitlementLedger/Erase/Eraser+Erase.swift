public import Entitlements
import EventLog
public import LedgerAPI
import Synchronization

/// What an erasure comes to.
public enum ErasureOutcome: Sendable, Equatable {
    /// Names and keys are gone; what was asked for before has the same answer.
    case erased(ErasureReceipt)
    /// Nothing is known of any of these customers.
    case unknown
    /// The request's id is another request's.
    case refused(Refusal)
}

extension Eraser {
    /// Erases customers: destroys the keys and names of their streams (C6, row 9.5).
    ///
    /// No byte of the log changes. It says first what goes, by number; from then on the names
    /// belong to nobody, and what comes later under them starts anew. Then the vault destroys keys
    /// and names; an erasure that was stopped in between goes on when the ledger is opened.
    ///
    /// `reading`: tells whom evidence names, where the loss of keys alone does not close it.
    ///
    /// - Throws: `LedgerFault`, `LogStorageFault`, what the vault's files throw.
    ///
    /// Cost: grows with the number of streams in the shards of those that go, for all customers
    /// together, and with the evidence that names very many.
    public func erase(
        _ customers: [CustomerID],
        _ request: Request,
        reading names: any EvidenceNames
    ) throws -> ErasureOutcome {
        let appender = try appending.whole
        let outcome = try appender.writer.alone {
            try beginErasure(of: customers, request, names, appender, $0)
        }
        guard case .erased(let receipt) = outcome else { return outcome }
        try finishErasure(at: receipt.sequence)
        return .erased(try erasureReceipt(at: receipt.sequence) ?? receipt)
    }

    /// Says in the log what goes.
    private func beginErasure(
        of customers: [CustomerID],
        _ request: Request,
        _ names: any EvidenceNames,
        _ appender: Appender,
        _ append: LogWriter.Append
    ) throws -> ErasureOutcome {
        // What is in doubt since a failed commit is looked up first.
        _ = try append([])
        try resolvePreparedErasure()
        let size = try questions.size()
        var scopes = try erasureScopes(of: customers, size: size).scopes
        if let known = try questions.sequence(of: request) {
            // A repeat has the first outcome, unless it would pass for the erasure of somebody else.
            guard scopes.isEmpty, let receipt = try erasureReceipt(at: known) else {
                return .refused(
                    Refusal(.conflict, "id", "event \(known) has this id and other content")
                )
            }
            return .erased(receipt)
        }
        scopes = try EvidenceSearch(appender, names, for: customers, scopes, size: size)
            .extending(scopes)
        scopes += try waitingScopes(of: customers, appender.vault)
        guard !scopes.isEmpty else { return .unknown }
        let records = try ErasureSealer(appender, request).records(of: scopes)
        try appender.vault.prepare(
            VaultErasure(streams: scopes.flatMap(\.streams), signal: records[0].signal)
        )
        switch try append([SealedSubmission(records: records)])[0] {
        case .appended(let first, _):
            guard let receipt = try erasureReceipt(at: first) else {
                throw LogStorageFault(.damaged, "the event of an erasure is not there")
            }
            return .erased(receipt)
        default:
            try appender.vault.cancelErasure()
            throw LedgerFault(.contended, "the erasure did not come to stand: try again")
        }
    }

    /// Those of whom nothing is known but what waits in quarantine: it goes with a stream of theirs.
    private func waitingScopes(
        of customers: [CustomerID],
        _ vault: any Vault
    ) throws -> [ErasureScope] {
        let names = customers.map { EvidenceSearch.name(of: $0, .production) }
        let unknown = try names.filter { try vault.stream(of: $0) == nil }.map(\.subject)
        return try vault.quarantined(unknown).map { subject in
            let name = StreamName(
                environment: StoreEnvironment.production.rawValue,
                subject: subject
            )
            return ErasureScope(
                environment: .production,
                streams: [try vault.reserveStream(of: name)]
            )
        }
    }

    /// `sequence`: of its first event, which says what goes.
    private func finishErasure(at sequence: UInt64) throws {
        let appender = try appending.whole
        if appender.vault.preparedErasure != nil, let receipt = try erasureReceipt(at: sequence) {
            try archiver.writing.withLock { _ in
                try appender.storage.eraseEvidence(of: receipt.evidence)
            }
        }
        try appender.vault.finishErasure()
        try rollUps.forget()
    }

    /// Finishes or forgets what another process, or an earlier call, left half done.
    private func resolvePreparedErasure() throws {
        let vault = try opened.whole
        guard let prepared = vault.preparedErasure else { return }
        if let sequence = try questions.views.sequence(of: prepared.signal) {
            try finishErasure(at: sequence)
        } else {
            try vault.cancelErasure()
        }
    }

    /// Takes up what was stopped, and forgets from now on whom the log says to be erased.
    func followErasures() throws {
        // A vault without its key has nothing to close.
        questions.views.moves.whenErased { [opened, accessCache = questions.accessCache] streams in
            opened?.close(streams)
            accessCache.removeAll()
        }
        guard let opened, let prepared = opened.preparedErasure else { return }
        guard appending == nil else { return try resolvePreparedErasure() }
        if try questions.views.sequence(of: prepared.signal) != nil {
            opened.close(prepared.streams)
        }
    }
}

/// Seals the events that say what an erasure takes.
private struct ErasureSealer {
    private let appender: Appender
    private let request: Request
    private let now: Instant

    /// Numbers of streams, or of evidence, in one event: with them it stays far below a record's
    /// limit.
    private static let listLimit = 2000

    init(_ appender: Appender, _ request: Request) {
        self.appender = appender
        self.request = request
        now = appender.clock()
    }

    /// At least one event for each customer and environment, with what goes in clear beside the
    /// subject; its id is sealed under the subject's key, and goes too.
    func records(of scopes: [ErasureScope]) throws -> [SealedRecord] {
        let parts = scopes.flatMap { scope in
            var streams = scope.streams.dropFirst()
            var evidence = scope.evidence[...]
            var parts: [Part] = []
            repeat {
                parts.append(
                    Part(
                        subject: scope.streams[0],
                        listed: Array(streams.prefix(Self.listLimit)),
                        evidence: Array(evidence.prefix(Self.listLimit)),
                        environment: scope.environment
                    )
                )
                streams = streams.dropFirst(Self.listLimit)
                evidence = evidence.dropFirst(Self.listLimit)
            } while !streams.isEmpty || !evidence.isEmpty
            return parts
        }
        return try parts.enumerated().map { index, part in
            try record(part, number: index + 1, left: parts.count - index)
        }
    }

    /// What one event says.
    private struct Part {
        var subject: UInt64
        var listed: [UInt64]
        var evidence: [UInt64]
        var environment: StoreEnvironment
    }

    /// `left`: events of the erasure from this one on.
    private func record(_ part: Part, number: Int, left: Int) throws -> SealedRecord {
        let id = number == 1 ? request.id : "\(request.id)#\(number)"
        var facts = FactsWriter()
        facts.append(.found, number: UInt64(left))
        if !part.listed.isEmpty { facts.append(.erased, streams: part.listed) }
        if !part.evidence.isEmpty {
            let sequences = part.evidence.map { String($0) }
            facts.append(EventData.Entry(field: .evidence, value: .texts(sequences)))
        }
        var identity = FactsWriter()
        identity.append(id: id, source: request.source)
        var randomness = appender.randomness
        let record = try SealedRecord(
            header: SealedRecord.Header(
                time: now.milliseconds,
                observedAt: now.milliseconds,
                stream: part.subject,
                kind: EventKind.customerErased.rawValue,
                source: SourceCode.code(of: request.source),
                environment: part.environment.rawValue
            ),
            // The request's, in whatever environment its events stand: so a repeat finds the first.
            signal: appender.vault.digestSecret.signal(
                environment: request.environment.rawValue,
                source: request.source,
                id: id
            ),
            facts: facts.bytes,
            identity: identity.bytes,
            key: try appender.vault.keys(of: part.subject),
            nonce: SealingNonce(using: &randomness),
            attached: .none,
            attachedDigest: nil,
            otherStreams: part.listed
        )
        guard let record else { preconditionFailure("a part is bounded far below a record") }
        return record
    }
}
