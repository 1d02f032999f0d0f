package import Encodings
import Entitlements
import EventLog
import LedgerAPI

/// The content of an export, read piece by piece: no piece is larger than some hundred records, and
/// no view of the storage stays open between two.
public struct LedgerExport: Sendable {
    let questions: Questions
    let prover: Prover
    /// What was planned.
    public let plan: ExportPlan
    let checkpoint: Checkpoint
    /// Members of evidence that name no person.
    let impersonalMembers: Set<Name>
    /// The customer's events, ascending; nil: a range, all of it.
    private let sequences: [UInt64]?
    /// The customer's names and purchases, ascending.
    private let streams: [UInt64]
    /// What is shown of them.
    private let view: CustomerView
    /// The feature ids of the catalog in force at T.
    private let features: [String]

    /// Records of one piece.
    static let pieceSize: UInt64 = 256

    /// Where a reader of a part is.
    public struct Position: Sendable {
        /// The part.
        public let part: ExportPart
        /// Lines or records that were read.
        public fileprivate(set) var index: UInt64 = 0
        /// Whether everything was read.
        public fileprivate(set) var isAtEnd = false
        fileprivate var lastCarrier: UInt64?

        /// The beginning of a part.
        public init(_ part: ExportPart) { self.part = part }
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
                throw ExportRefusal(
                    code: .unknownCustomer,
                    message: "nothing is recorded under this id: never, or it was erased"
                )
            }
            let loaded = try questions.loadFacts(of: id, environment: environment, size: plan.size)
            let view = CustomerView(plan.visibility, of: loaded.timeline, loaded.facts)
            streams = try questions.streams(ofCustomer: stream, below: plan.size)
                .filter(view.names).sorted()
            sequences = try questions.sequences(of: streams, below: plan.size, shownTo: view)
            self.view = view
            features =
                try questions.catalogHistory(size: plan.size).catalog(at: plan.at)?
                .features.map(\.id) ?? []
        case .range(let range):
            guard !range.isEmpty, range.upperBound <= checkpoint.size else {
                throw ExportRefusal(code: .emptyRange, message: "the range holds no event")
            }
            sequences = nil
            streams = []
            view = .everything
            features = []
        }
    }

    /// Records that are exported.
    public var recordCount: UInt64 {
        if let sequences { return UInt64(sequences.count) }
        guard case .range(let range) = plan.scope else { return 0 }
        return UInt64(range.count)
    }

    /// The first record and the one after the last; nil: none.
    public var range: Range<UInt64>? {
        if let sequences {
            guard let first = sequences.first, let last = sequences.last else { return nil }
            return first..<last + 1
        }
        guard case .range(let range) = plan.scope else { return nil }
        return range
    }

    /// The numbers of the customer's names and purchases; of a range none: all may be in it.
    public var exportedStreams: [UInt64] { streams }

    /// Whether a path holds one of the customer's ids: it is noted in the ledger, which names nobody
    /// (law 6).
    public func isNamed(in path: String) throws -> Bool {
        for stream in streams {
            guard let subject = try questions.vault.name(of: stream)?.subject,
                case .customer(let id)? = Subject(subject)
            else { continue }
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
    package func next(_ position: inout Position) throws -> [JSONValue] {
        switch position.part {
        case .identity: return try single(&position) { try identity() }
        case .state: return try single(&position) { try state() }
        case .timeline: return try single(&position) { try timeline() }
        case .range: return try single(&position) { try rangeProof() }
        case .explanations: return try explanation(&position)
        case .events, .errors, .evidence, .proofs: return try records(&position)
        }
    }

    private func single(
        _ position: inout Position,
        _ body: () throws -> JSONValue
    ) throws -> [JSONValue] {
        guard !position.isAtEnd else { return [] }
        let line = try body()
        position.isAtEnd = true
        return [line]
    }

    private func explanation(_ position: inout Position) throws -> [JSONValue] {
        guard position.index < UInt64(features.count) else {
            position.isAtEnd = true
            return []
        }
        let feature = features[Int(position.index)]
        position.index += 1
        position.isAtEnd = position.index == UInt64(features.count)
        return try explanation(of: feature).map { [$0] } ?? []
    }

    private func records(_ position: inout Position) throws -> [JSONValue] {
        let end = min(recordCount, position.index + Self.pieceSize)
        let piece = (position.index..<end).map { sequence(at: $0) }
        position.index = end
        position.isAtEnd = end == recordCount
        var lines: [JSONValue] = []
        let mask = EventMask(questions: questions, redaction: plan.redaction, view: view)
        var carriers: [UInt64] = []
        try questions.log.readRecords(piece) { sequence, record in
            switch position.part {
            case .events: lines += try mask.json(record).map { [$0] } ?? []
            case .errors where try RecordHeader(reading: record).tellsError:
                lines += try mask.json(record).map { [$0] } ?? []
            case .evidence:
                let header = try RecordHeader(checking: record)
                // Events of one signal stand one after the other.
                guard header.companion == .evidence, header.carrier != position.lastCarrier else {
                    return
                }
                position.lastCarrier = header.carrier
                carriers.append(sequence)
            default: break
            }
            if position.part == .proofs { lines.append(try proof(sequence, record)) }
        }
        return try lines + carriers.map { try evidence($0) }
    }

    private func sequence(at index: UInt64) -> UInt64 {
        if let sequences { return sequences[Int(index)] }
        guard case .range(let range) = plan.scope else { return index }
        return range.lowerBound + index
    }

    // MARK: What identifies and explains

    private func identity() throws -> JSONValue {
        let names = MaskedNames(questions: questions, redaction: plan.redaction)
        var customers: [JSONValue] = []
        var purchases: [JSONValue] = []
        for stream in streams {
            let subject = try questions.vault.name(of: stream)?.subject
            switch subject.flatMap(Subject.init) {
            case .customer?: customers.append(try entry(names.customerName(stream), stream))
            case .purchase?: purchases.append(try entry(names.purchaseName(stream), stream))
            default: break
            }
        }
        return .object([
            JSONMember("customer", .optional(try shownCustomer)),
            JSONMember("environment", .optional(plan.customer?.environment.name)),
            JSONMember("names", .array(customers)), JSONMember("purchases", .array(purchases)),
        ])
    }

    private func entry(_ name: String, _ stream: UInt64) throws -> JSONValue {
        .members(["name": .string(name), "stream": .string(String(stream))])
    }

    /// The customer as they may be shown.
    private var shownCustomer: String? {
        get throws {
            guard let customer = plan.customer else { return nil }
            guard plan.redaction.hidesCustomers else { return customer.id }
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

    private func state() throws -> JSONValue {
        guard let question else { return .null }
        guard plan.redaction.hidesCustomers else {
            return try JSONValue(parsing: questions.show(question, size: plan.size).text.bytes)
        }
        let state = try questions.state(question, size: plan.size)
        let names = MaskedNames(questions: questions, redaction: plan.redaction)
        var echo = question.echo(size: plan.size)
        echo.customer = try shownCustomer
        let answer = StateAnswer(echo, try StateContent(state, names: names))
        return try JSONValue(parsing: AnswerText(answer).bytes)
    }

    /// The events themselves are a part of their own.
    private func timeline() throws -> JSONValue {
        guard let question else { return .null }
        var answer =
            plan.redaction.hidesCustomers
            ? try questions.timelineContent(
                question,
                size: plan.size,
                names: MaskedNames(questions: questions, redaction: plan.redaction)
            )
            : try questions.timelineAnswer(question, size: plan.size).answer
        answer.events = answer.events.map(\.mark)
        answer.question.customer = try shownCustomer
        return try JSONValue(parsing: AnswerText(answer).bytes)
    }

    /// In English: for the customer where the export is their own, else for support.
    private func explanation(of feature: String) throws -> JSONValue? {
        guard let question,
            case .explained(let explanation, let size) = try questions.explain(feature, question)
        else { return nil }
        let isMasked = plan.redaction.hidesCustomers
        var echo = question.echo(size: size)
        echo.customer = try shownCustomer
        let answer = try ExplanationAnswer(
            echo,
            explanation,
            for: plan.visibility == .own ? .customer : .support,
            in: .english,
            customer: echo.customer ?? "",
            names: MaskedNames(questions: questions, redaction: plan.redaction),
            token: isMasked ? "" : questions.token(ofAccessTo: feature, question, size: size)
        )
        return try JSONValue(parsing: AnswerText(answer).bytes)
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
