import Entitlements
import EventLog

/// Customers who are to go: the log says by number what does (C6).
///
/// It is decided with the writer alone, and notes in the vault what goes before the log says it.
struct ErasureProposal: Proposal {
    let eraser: Eraser
    let customers: [CustomerID]
    let request: Request
    /// Tells whom evidence names, where the loss of keys alone does not close it.
    let names: any EvidenceNames

    /// Numbers of streams, or of evidence, in one event: with them it stays far below a record's
    /// limit.
    private static let listLimit = 2000

    func signal(in pipeline: Pipeline) -> SignalDigest { pipeline.signal(of: request) }

    func decision(
        in pipeline: Pipeline,
        as signal: SignalDigest,
        after earlier: UInt64?
    ) throws -> Decision<ErasureDecision> {
        let size = try pipeline.questions.size()
        var scopes = try eraser.erasureScopes(of: customers, size: size).scopes
        if let earlier {
            // A repeat has the first outcome, unless it would pass for the erasure of somebody else.
            guard scopes.isEmpty, try eraser.recordedErasure(at: earlier) != nil else {
                return .settled(.refused(.conflict(in: "id", with: earlier)))
            }
            return .settled(.recorded(at: earlier))
        }
        scopes = try EvidenceSearch(
            pipeline.questions,
            pipeline.vault,
            names,
            for: customers,
            scopes,
            size: size
        )
        .extending(scopes)
        scopes += try waitingScopes(pipeline.vault)
        guard !scopes.isEmpty else { return .settled(.unknown) }
        if scopes.contains(where: { !$0.evidence.isEmpty }) {
            try eraser.appending.whole.storage.requireErasable(evidence: true)
        }
        let records = try records(of: scopes, pipeline)
        try pipeline.vault.prepare(
            VaultErasure(streams: scopes.flatMap(\.streams), signal: signal)
        )
        return .sealed(SealedSubmission(records: records, isRequest: true)) { appended in
            switch appended {
            case .value(let range): .recorded(at: range.lowerBound)
            case .refused(let refusal): .refused(refusal)
            }
        }
    }

    /// Those of whom nothing is known but what waits in quarantine: it goes with a stream of theirs.
    private func waitingScopes(_ vault: any Vault) throws -> [ErasureScope] {
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

    /// At least one event for each customer and environment, with what goes in clear beside the
    /// subject; its id is sealed under the subject's key, and goes too.
    private func records(
        of scopes: [ErasureScope],
        _ pipeline: Pipeline
    ) throws -> [SealedRecord] {
        let parts = scopes.flatMap(Self.parts)
        let now = pipeline.clock()
        var sealer = EventSealer(
            resolver: StreamResolver(pipeline.vault),
            randomness: pipeline.sealer.randomness
        )
        return try parts.enumerated().map { place, part in
            let id = Submission.eventID(of: request.id, at: place)
            let event = NumberedEvent(
                id: id,
                source: request.source,
                environment: part.environment,
                // The request's, in whatever environment its events stand: so a repeat finds the
                // first.
                signal: pipeline.vault.digestSecret.signal(
                    environment: request.environment.rawValue,
                    source: request.source,
                    id: id
                ),
                stream: part.subject,
                time: now,
                observedAt: now,
                data: part.data(left: parts.count - place),
                others: part.listed.isEmpty ? [] : [(.erased, part.listed)]
            )
            guard let record = try sealer.seal(event, attached: nil) else {
                preconditionFailure("a part is bounded far below a record")
            }
            return record
        }
    }

    private static func parts(of scope: ErasureScope) -> [Part] {
        var streams = scope.streams.dropFirst()
        var evidence = scope.evidence[...]
        var parts: [Part] = []
        repeat {
            parts.append(
                Part(
                    subject: scope.streams[0],
                    listed: Array(streams.prefix(listLimit)),
                    evidence: Array(evidence.prefix(listLimit)),
                    environment: scope.environment
                )
            )
            streams = streams.dropFirst(listLimit)
            evidence = evidence.dropFirst(listLimit)
        } while !streams.isEmpty || !evidence.isEmpty
        return parts
    }

    /// What one event says.
    private struct Part {
        var subject: UInt64
        var listed: [UInt64]
        var evidence: [UInt64]
        var environment: StoreEnvironment

        /// `left`: events of the erasure from this one on.
        func data(left: Int) -> EventData {
            EventData(
                .customerErased,
                [
                    .found: .integer(Int64(left)),
                    // The streams' numbers stand in place of names.
                    .erased: listed.isEmpty ? nil : .texts([]),
                    .evidence: evidence.isEmpty ? nil : .texts(evidence.map { String($0) }),
                ]
            )
        }
    }
}
