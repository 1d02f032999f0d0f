import Encodings
import Entitlements
import EventLog
import LedgerAPI

/// The content of an export, read piece by piece: no piece is larger than some hundred records, and
/// no view of the storage stays open between two.
package struct LedgerExport: Sendable {
    let questions: Questions
    let prover: Prover
    /// What was planned.
    package let plan: ExportPlan
    let checkpoint: Checkpoint
    /// Members of evidence that name no person.
    let impersonalMembers: Set<Name>
    /// The customer's events, ascending; nil: a range, all of it.
    private let sequences: [UInt64]?
    /// The customer's names and purchases that are shown, ascending.
    private let streams: [UInt64]
    /// What is shown of them.
    private let view: CustomerView
    /// The feature ids of the catalog in force at T.
    private let features: [String]
    /// What purchases are at the times of events; nil: no table or page asks.
    private let moments: PurchaseMoments?

    /// Records of one piece.
    static let pieceSize: UInt64 = 256

    /// Where a reader of a part is.
    package struct Position: Sendable {
        /// The part.
        package let part: ExportPart
        /// Lines or records that were read.
        package fileprivate(set) var index: UInt64 = 0
        /// Whether everything was read.
        package fileprivate(set) var isAtEnd = false
        fileprivate var lastAttachedAt: UInt64?

        /// The beginning of a part.
        package init(_ part: ExportPart) { self.part = part }
    }

    init(
        _ exporter: Exporter,
        _ plan: ExportPlan,
        _ checkpoint: Checkpoint,
        impersonalMembers: Set<Name>
    ) throws {
        questions = exporter.questions
        prover = exporter.prover
        self.impersonalMembers = impersonalMembers
        self.plan = plan
        self.checkpoint = checkpoint
        switch plan.scope {
        case .customer(let id, let environment):
            let name = StreamName(.customer(id), in: environment)
            guard let stream = try questions.vault.stream(of: name) else {
                throw LedgerFault(
                    .unknownCustomer,
                    "nothing is recorded under this id: never, or it was erased"
                )
            }
            let loaded = try questions.loadFacts(of: id, environment: environment, size: plan.size)
            let timeline = loaded.timeline
            let view = CustomerView(plan.visibility, of: timeline, loaded.facts)
            let known = try questions.streams(ofCustomer: stream, below: plan.size)
                .filter(view.names).sorted()
            let shown = try questions.sequences(of: known, below: plan.size, shownTo: view)
            streams = try questions.told(known, by: shown, to: view)
            sequences = shown
            self.view = view
            features =
                try questions.catalogHistory(size: plan.size).catalog(at: plan.at)?
                .features.map(\.id) ?? []
            moments =
                plan.formats.allSatisfy { $0 == .ndjson }
                ? nil : PurchaseMoments(timeline, loaded.facts)
        case .range(let range):
            guard !range.isEmpty, range.upperBound <= checkpoint.size else {
                throw LedgerFault(.emptyRange, "the range holds no event")
            }
            sequences = nil
            streams = []
            view = .everything
            features = []
            moments = nil
        }
    }

    /// The ledger's origin.
    package var origin: String { questions.identity.origin }

    /// Records that are exported.
    package var recordCount: UInt64 {
        if let sequences { return UInt64(sequences.count) }
        guard case .range(let range) = plan.scope else { return 0 }
        return UInt64(range.count)
    }

    /// The first record and the one after the last; nil: none.
    package var range: Range<UInt64>? {
        if let sequences {
            guard let first = sequences.first, let last = sequences.last else { return nil }
            return first..<last + 1
        }
        guard case .range(let range) = plan.scope else { return nil }
        return range
    }

    /// The numbers of all that the export names, ascending.
    ///
    /// They are the customer's names and purchases, and whom else the exported events tell of, former
    /// owners among them. Of a range none: all may be in it. Cost: reads each record that is exported.
    package func namedStreams() throws -> [UInt64] {
        guard sequences != nil else { return [] }
        var named = Set(streams)
        var position = Position(.events)
        while !position.isAtEnd {
            try questions.readNames(nextSequences(&position)) { header, streams in
                named.formUnion(streams)
                // An owner may be named otherwise than in the event.
                if let owner = moment(of: header)?.owner { named.insert(owner) }
            }
        }
        return named.sorted()
    }

    /// Whether a path holds one of the customer's ids: it is noted in the ledger, which names nobody
    /// (law 6).
    package func isNamed(in path: String) throws -> Bool {
        for stream in streams {
            guard let id = try questions.vault.customer(of: stream)?.text else { continue }
            let isLong = id.utf8.count >= Self.tellingByteCount
            if path.split(separator: "/").contains(where: { $0 == id })
                || isLong && path.contains(id)
            {
                return true
            }
        }
        return false
    }

    /// An id of fewer bytes stands within other words by chance.
    private static let tellingByteCount = 4

    /// The next lines of a part; the position says whether there are more.
    package func next(_ position: inout Position) throws -> [ExportLine] {
        switch position.part {
        case .identity: return try single(&position) { .identity(try identity()) }
        case .state: return try single(&position) { try state().map { .state($0) } }
        case .timeline: return try single(&position) { try timeline().map { .timeline($0) } }
        case .range:
            guard case .range(let range) = plan.scope else { return [] }
            return try single(&position) { .range(try rangeProof(range)) }
        case .explanations: return try explanation(&position)
        case .events, .errors, .evidence, .proofs: return try records(&position)
        }
    }

    private func single(
        _ position: inout Position,
        _ body: () throws -> ExportLine?
    ) throws -> [ExportLine] {
        guard !position.isAtEnd else { return [] }
        let line = try body()
        position.isAtEnd = true
        return line.map { [$0] } ?? []
    }

    private func explanation(_ position: inout Position) throws -> [ExportLine] {
        guard position.index < UInt64(features.count) else {
            position.isAtEnd = true
            return []
        }
        let feature = features[Int(position.index)]
        position.index += 1
        position.isAtEnd = position.index == UInt64(features.count)
        return try explanation(of: feature).map { [.explanation($0)] } ?? []
    }

    private func nextSequences(_ position: inout Position) -> [UInt64] {
        let end = min(recordCount, position.index + Self.pieceSize)
        let piece = (position.index..<end).map { sequence(at: $0) }
        position.index = end
        position.isAtEnd = end == recordCount
        return piece
    }

    private func records(_ position: inout Position) throws -> [ExportLine] {
        let piece = nextSequences(&position)
        var lines: [ExportLine] = []
        let mask = EventMask(questions: questions, redaction: plan.redaction, view: view)
        var evidenced: [UInt64] = []
        try questions.log.readRecords(piece) { sequence, record in
            // A gap says nothing; its place in the tree is proven as any other's.
            if LostRecord.isOne(record), position.part != .proofs { return }
            switch position.part {
            case .events: lines += try mask.shown(record).map { [.event(try shown($0))] } ?? []
            case .errors where try RecordHeader(reading: record).tellsError:
                lines += try mask.shown(record).map { [.event(try shown($0))] } ?? []
            case .evidence:
                let header = try RecordHeader(checking: record)
                // Events of one signal stand one after the other.
                guard header.attached == .evidence, header.attachedAt != position.lastAttachedAt
                else {
                    return
                }
                position.lastAttachedAt = header.attachedAt
                evidenced.append(sequence)
            default: break
            }
            if position.part == .proofs { lines.append(.proof(try proof(sequence, record))) }
        }
        return try lines + evidenced.map { .evidence(try evidence($0)) }
    }

    private func sequence(at index: UInt64) -> UInt64 {
        if let sequences { return sequences[Int(index)] }
        guard case .range(let range) = plan.scope else { return index }
        return range.lowerBound + index
    }

    /// What the purchase of an event is then; nil: it is about none, or no table or page asks.
    private func moment(of header: RecordHeader) -> PurchaseMoment? {
        moments?.moment(
            ofEvent: header.sequence,
            about: header.stream,
            at: Instant(milliseconds: header.time)
        )
    }

    /// An event with what is shown of its purchase.
    private func shown(_ event: OpenedEvent) throws -> ShownEvent {
        guard var moment = self.moment(of: event.header) else {
            return ShownEvent(event: event, purchase: nil)
        }
        // A customer's own refunds are rows of their export; one that another caused is not theirs
        // to see (Stores, rule 7).
        if plan.visibility == .own { moment.revokedAt = nil }
        let names = MaskedNames(questions: questions, redaction: plan.redaction)
        let owner = try moment.owner.flatMap { owner in
            view.isCustomer(owner) ? try names.customerName(owner) : nil
        }
        return ShownEvent(event: event, purchase: (moment, owner))
    }

    // MARK: What identifies and explains

    private func identity() throws -> ExportedIdentity {
        let names = MaskedNames(questions: questions, redaction: plan.redaction)
        var customers: [ExportedIdentity.Stream] = []
        var purchases: [ExportedIdentity.Stream] = []
        for stream in streams {
            let subject = try questions.vault.name(of: stream)?.subject
            switch subject.flatMap(Subject.init) {
            case .customer?:
                customers.append(.init(name: try names.customerName(stream), number: stream))
            case .purchase?:
                purchases.append(.init(name: try names.purchaseName(stream), number: stream))
            default: break
            }
        }
        return ExportedIdentity(
            customer: try shownCustomer,
            environment: plan.customer?.environment,
            names: customers,
            purchases: purchases
        )
    }

    /// The customer as they may be shown.
    private var shownCustomer: String? {
        get throws {
            guard let customer = plan.customer else { return nil }
            guard plan.redaction.hidesCustomers else { return customer.id.text }
            let name = StreamName(.customer(customer.id), in: customer.environment)
            return try questions.vault.stream(of: name).map { MaskedNames.text($0) }
        }
    }

    private var question: CustomerQuestion? {
        plan.customer.map { customer in
            CustomerQuestion(
                customer: customer.id,
                environment: customer.environment,
                point: BitemporalPoint(
                    at: plan.at,
                    knownAt: plan.known.map { .instant($0) } ?? .sequence(plan.size)
                ),
                visibility: plan.visibility
            )
        }
    }

    private func state() throws -> StateAnswer? {
        guard let question else { return nil }
        guard plan.redaction.hidesCustomers else {
            return try questions.show(question, size: plan.size).answer
        }
        let state = try questions.state(question, size: plan.size)
        let names = MaskedNames(questions: questions, redaction: plan.redaction)
        var echo = question.echo(size: plan.size)
        echo.customer = try shownCustomer
        return StateAnswer(echo, try StateContent(state, names: names))
    }

    private func timeline() throws -> TimelineAnswer? {
        guard let question else { return nil }
        var answer =
            plan.redaction.hidesCustomers
            ? try questions.timelineContent(
                question,
                size: plan.size,
                names: MaskedNames(questions: questions, redaction: plan.redaction)
            )
            : try questions.timelineAnswer(question, size: plan.size).answer
        answer.question.customer = try shownCustomer
        return answer
    }

    /// In English: for the customer where the export is their own, else for support.
    private func explanation(of feature: String) throws -> ExplanationAnswer? {
        guard let question,
            case .found(let explanation, let size, let state) = try questions.reasons(
                feature,
                question,
                size: plan.size
            )
        else { return nil }
        let isMasked = plan.redaction.hidesCustomers
        var echo = question.echo(size: size)
        echo.customer = try shownCustomer
        return try ExplanationAnswer(
            echo,
            explanation,
            for: plan.visibility == .own ? .customer : .support,
            in: .english,
            .utc,
            customer: echo.customer ?? "",
            names: MaskedNames(questions: questions, redaction: plan.redaction),
            token: isMasked
                ? "" : questions.token(ofAccessTo: explanation, question, size: size, state)
        )
    }
}

extension Questions {
    /// Those of a customer's names and purchases that may be told, in their order (Stores, rule 7).
    ///
    /// `sequences`: of the events that the view shows.
    fileprivate func told(
        _ streams: [UInt64],
        by sequences: [UInt64],
        to view: CustomerView
    ) throws -> [UInt64] {
        guard !view.isWhole else { return streams }
        var named: Set<UInt64> = []
        try readNames(sequences) { _, streams in named.formUnion(streams) }
        return streams.filter { view.isTold($0) || named.contains($0) }
    }

    /// Reads the heads of some events, each with the streams that it names; a gap has none.
    fileprivate func readNames(
        _ sequences: [UInt64],
        _ body: (_ header: RecordHeader, _ streams: [UInt64]) throws -> Void
    ) throws {
        try log.readRecords(sequences) { _, record in
            guard !LostRecord.isOne(record) else { return }
            let header = try RecordHeader(checking: record)
            try body(header, header.indexEntry(record).streams)
        }
    }
}

extension RecordHeader {
    /// Whether an event tells of an error.
    fileprivate var tellsError: Bool {
        switch EventKind(rawValue: kind) {
        case .failureRecorded?, .flowFailed?, .verificationFailed?: true
        default: false
        }
    }
}
