public import Encodings
public import Entitlements
import EventLog

/// The content of an export, read piece by piece: no piece is larger than some hundred records, and
/// no view of the storage stays open between two.
public struct LedgerExport: Sendable {
    /// Words an explanation: sentences are made above the ledger.
    ///
    /// `head`: the members that the answer begins with. `customer`: as it is to be shown.
    public typealias Wording =
        @Sendable (
            _ explanation: Explanation,
            _ head: [JSONMember],
            _ customer: String,
            _ names: any AnswerNames,
            _ token: String
        ) throws -> JSONValue

    let ledger: Ledger
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
        _ ledger: Ledger,
        _ plan: ExportPlan,
        _ checkpoint: Checkpoint,
        impersonalMembers: Set<Name>
    ) throws {
        self.ledger = ledger
        self.impersonalMembers = impersonalMembers
        self.plan = plan
        self.checkpoint = checkpoint
        switch plan.scope {
        case .customer(let id, let environment):
            let name = StreamName(.customer(id), in: environment)
            guard let stream = try ledger.vault.stream(of: name) else {
                throw ExportRefusal(
                    code: .unknownCustomer,
                    message: "nothing is recorded under this id: never, or it was erased"
                )
            }
            let loaded = try ledger.loadFacts(of: id, environment: environment, size: plan.size)
            let view = CustomerView(plan.visibility, of: loaded.timeline, loaded.facts)
            streams = try ledger.streams(ofCustomer: stream, below: plan.size)
                .filter(view.names).sorted()
            sequences = try ledger.sequences(of: streams, below: plan.size, shownTo: view)
            self.view = view
            features =
                try ledger.catalogHistory(size: plan.size).catalog(at: plan.at)?
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
            guard let subject = try ledger.vault.name(of: stream)?.subject,
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
    public func next(_ position: inout Position, _ wording: Wording) throws -> [JSONValue] {
        switch position.part {
        case .identity: return try single(&position) { try identity() }
        case .state: return try single(&position) { try state() }
        case .timeline: return try single(&position) { try timeline() }
        case .range: return try single(&position) { try rangeProof() }
        case .explanations: return try explanation(&position, wording)
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

    private func explanation(
        _ position: inout Position,
        _ wording: Wording
    ) throws -> [JSONValue] {
        guard position.index < UInt64(features.count) else {
            position.isAtEnd = true
            return []
        }
        let feature = features[Int(position.index)]
        position.index += 1
        position.isAtEnd = position.index == UInt64(features.count)
        return try explanation(of: feature, wording).map { [$0] } ?? []
    }

    private func records(_ position: inout Position) throws -> [JSONValue] {
        let end = min(recordCount, position.index + Self.pieceSize)
        let piece = (position.index..<end).map { sequence(at: $0) }
        position.index = end
        position.isAtEnd = end == recordCount
        var lines: [JSONValue] = []
        let mask = EventMask(ledger: ledger, redaction: plan.redaction, view: view)
        var carriers: [UInt64] = []
        try ledger.log.readRecords(piece) { sequence, record in
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
        let names = MaskedNames(ledger: ledger, redaction: plan.redaction)
        var customers: [JSONValue] = []
        var purchases: [JSONValue] = []
        for stream in streams {
            let subject = try ledger.vault.name(of: stream)?.subject
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
            return try ledger.vault.stream(of: name).map { MaskedNames.text($0) }
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

    /// Members of an answer with the customer as they may be shown.
    private func shown(_ members: [JSONMember]) throws -> [JSONMember] {
        try members.map { member in
            member.name == "customer"
                ? JSONMember("customer", .optional(try shownCustomer)) : member
        }
    }

    private func state() throws -> JSONValue {
        guard let question else { return .null }
        guard plan.redaction.hidesCustomers else {
            return try ledger.show(question, size: plan.size)
        }
        let state = try ledger.state(question, size: plan.size)
        let names = MaskedNames(ledger: ledger, redaction: plan.redaction)
        return .object(
            try shown(question.members(size: plan.size)) + state.members(names: names)
                // A token is a digest of the answer with its names.
                + [JSONMember("token", .null)]
        )
    }

    private func timeline() throws -> JSONValue {
        guard let question else { return .null }
        let answer = try ledger.timelineAnswer(
            question,
            size: plan.size,
            names: MaskedNames(ledger: ledger, redaction: plan.redaction)
        )
        let members = (answer.members ?? []).compactMap { member -> JSONMember? in
            switch member.name {
            case "token" where plan.redaction.hidesCustomers: JSONMember("token", .null)
            case "events":
                // The events themselves are a part of their own.
                JSONMember("events", .array((member.value.array ?? []).map(Self.mark)))
            default: member
            }
        }
        return .object(try shown(members))
    }

    /// What of an event is drawn.
    private static func mark(_ event: JSONValue) -> JSONValue {
        .object(
            ["sequence", "type", "time", "recordedtime"].map {
                JSONMember($0, event[$0] ?? .null)
            }
        )
    }

    private func explanation(of feature: String, _ wording: Wording) throws -> JSONValue? {
        guard let question,
            case .explained(let head, let size, let explanation) = try ledger.explain(
                feature,
                question
            )
        else { return nil }
        let isMasked = plan.redaction.hidesCustomers
        let token = isMasked ? "" : try ledger.token(ofAccessTo: feature, question, size: size)
        return try wording(
            explanation,
            try shown(head),
            try shownCustomer ?? "",
            MaskedNames(ledger: ledger, redaction: plan.redaction),
            token
        )
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
