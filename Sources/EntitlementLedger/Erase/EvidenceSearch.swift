import Entitlements
import EventLog
import PostingIndex

/// Finds the evidence that names those who go and that the loss of their keys does not close: what
/// names too many for that, and what older programs sealed for its events alone (Storage,
/// "Evidence").
///
/// Cost: each such evidence is opened and read, for all customers of an erasure together. Of older
/// programs it stands at the log's beginning: where this one has written from the start there is none.
struct EvidenceSearch {
    private let questions: Questions
    /// Gives a stream to whom evidence alone names.
    private let vault: any Vault
    private let reader: any EvidenceNames
    private let size: UInt64
    /// Whom it looks for, in each environment.
    private var sought: Set<StreamName> = []
    /// What goes without evidence.
    private let gone: Set<UInt64>

    /// An evidence, and who of those who go stands in it.
    private struct Finding {
        var environment: StoreEnvironment
        var named: [StreamName]
        /// How it is closed.
        var remedy: Remedy
    }

    private enum Remedy {
        /// By the loss of the key that is for it alone.
        case key(UInt64)
        /// By deleting what this record carries: its key is others'.
        case deletion(UInt64)
    }

    /// Looks for customers, and for all that goes with them.
    init(
        _ questions: Questions,
        _ vault: any Vault,
        _ reader: any EvidenceNames,
        for customers: [CustomerID],
        _ scopes: [ErasureScope],
        size: UInt64
    ) throws {
        self.questions = questions
        self.vault = vault
        self.reader = reader
        self.size = size
        for environment in StoreEnvironment.allCases {
            for customer in customers { sought.insert(Self.name(of: customer, environment)) }
        }
        gone = Set(scopes.flatMap(\.streams))
        for stream in gone {
            if let name = try vault.name(of: stream) { sought.insert(name) }
        }
    }

    /// The name of a customer's stream.
    static func name(of customer: CustomerID, _ environment: StoreEnvironment) -> StreamName {
        StreamName(.customer(customer), in: environment)
    }

    /// The scopes with all that is found; who stands in evidence alone gets one of their own.
    func extending(_ scopes: [ErasureScope]) throws -> [ErasureScope] {
        var scopes = scopes
        for finding in try findings() {
            for name in finding.named where try vault.stream(of: name) == nil {
                scopes.append(
                    ErasureScope(
                        environment: finding.environment,
                        streams: [try vault.reserveStream(of: name)]
                    )
                )
            }
            guard let place = scopes.firstIndex(where: { $0.environment == finding.environment })
            else { continue }
            switch finding.remedy {
            case .key(let stream): scopes[place].streams.append(stream)
            case .deletion(let sequence): scopes[place].evidence.append(sequence)
            }
        }
        return scopes
    }

    /// The names that are found; nobody gets a stream.
    func named() throws -> Set<StreamName> { Set(try findings().flatMap(\.named)) }

    private func findings() throws -> [Finding] { try crowded() + older() }

    /// What is sealed under a key of its own, by the events that note it.
    private func crowded() throws -> [Finding] {
        try StoreEnvironment.allCases.flatMap { environment -> [Finding] in
            let name = StreamName(CrowdedEvidence.subject, in: environment)
            guard let notes = try vault.stream(of: name) else { return [] }
            return try questions.views.entries(of: notes, below: size).compactMap { entry in
                try finding(in: entry.sequence) { attached in
                    // Whoever imports events may name that subject too.
                    guard let seal = try SealedEvidence.seal(of: attached.span),
                        seal.cover == .itself
                    else { return nil }
                    return seal.streams.first.map { .key($0) }
                }
            }
        }
    }

    /// What was sealed for its events alone, and stays open when those who are sought go.
    private func older() throws -> [Finding] {
        var sequences: [UInt64] = []
        try questions.log.readAttached(from: 0) { sequence, attached in
            guard AttachedBytes.isEvidence(attached),
                let seal = try SealedEvidence.seal(of: attached)
            else { return true }
            guard seal.cover == .events else { return false }
            if !seal.streams.contains(where: gone.contains) { sequences.append(sequence) }
            return true
        }
        return try sequences.compactMap { sequence in
            try finding(in: sequence) { _ in .deletion(sequence) }
        }
    }

    /// nil where an event's evidence names none of them, or is closed already.
    private func finding(
        in sequence: UInt64,
        _ remedy: (_ attached: [UInt8]) throws -> Remedy?
    ) throws -> Finding? {
        var header: RecordHeader?
        try questions.log.readRecords([sequence]) { header = try RecordHeader(checking: $1) }
        guard let header, header.attached == .evidence,
            let environment = StoreEnvironment(rawValue: header.environment),
            let source = SourceCode.name(of: header.source),
            let attached = try questions.log.attached(at: header.attachedAt),
            let remedy = try remedy(attached),
            // What cannot be read holds the erasure up: whom it names is not known.
            let evidence = try questions.recordedEvidence(header)
        else { return nil }
        let named = reader.subjects(namedIn: evidence, source: source)
            .map { StreamName(environment: header.environment, subject: $0.description) }
            .filter(sought.contains)
        guard !named.isEmpty else { return nil }
        return Finding(environment: environment, named: named, remedy: remedy)
    }
}
