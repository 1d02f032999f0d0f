import Encodings
public import Entitlements
import EventLog
public import LedgerAPI
import PostingIndex

/// What is said of a feature.
public enum FeatureExplanation: Sendable {
    /// Why the customer has or lacks it.
    case explained(ExplanationAnswer)
    /// No catalog of the prefix ever listed the feature; names that may have been meant.
    case unknownFeature(near: [String])
}

/// Why a customer has or lacks a feature, not in words yet.
enum Reasons {
    /// The reasons, the size of the prefix that they were found in, and the state at T.
    case found(Explanation, size: UInt64, CustomerState)
    /// No catalog of the prefix ever listed the feature; names that may have been meant.
    case unknownFeature(near: [String])
}

extension Questions {
    /// Why a customer has or lacks a feature at T, as known at R (row Z2), told to an audience in a
    /// language, with instants in a time zone.
    ///
    /// One of whom nothing was recorded has what everybody has.
    ///
    /// Cost: as a state and as the writing of the decision for its token, and one record read for
    /// each event that is named and for the first that said the same.
    public func explain(
        _ feature: String,
        _ question: CustomerQuestion,
        to audience: Audience = .developer,
        in language: Language = .english,
        _ zone: NamedZone = .utc
    ) throws -> FeatureExplanation {
        switch try reasons(feature, question) {
        case .unknownFeature(let near): return .unknownFeature(near: near)
        case .found(let explanation, let size, let state):
            let answers = try tell(
                explanation,
                question,
                size: size,
                state,
                to: [(audience, language)],
                zone
            )
            return .explained(answers[0])
        }
    }

    /// Why a customer has or lacks a feature, found once and told to each of some audiences, with instants
    /// in UTC; nil: no catalog of the prefix ever listed the feature.
    package func explain(
        _ feature: String,
        _ question: CustomerQuestion,
        to listeners: [(audience: Audience, language: Language)]
    ) throws -> [ExplanationAnswer]? {
        guard case .found(let explanation, let size, let state) = try reasons(feature, question)
        else { return nil }
        return try tell(explanation, question, size: size, state, to: listeners, .utc)
    }

    private func tell(
        _ explanation: Explanation,
        _ question: CustomerQuestion,
        size: UInt64,
        _ state: CustomerState,
        to listeners: [(audience: Audience, language: Language)],
        _ zone: NamedZone
    ) throws -> [ExplanationAnswer] {
        let token = try token(ofAccessTo: explanation, question, size: size, state)
        return try listeners.map { audience, language in
            try ExplanationAnswer(
                question.echo(size: size),
                explanation,
                for: audience,
                in: language,
                zone,
                customer: question.customer.text,
                names: names,
                token: token
            )
        }
    }

    /// Why a customer has or lacks a feature at T, as known at R: what `explain` puts into words.
    ///
    /// `size`: the prefix that was known at R; nil: as the log stands now.
    func reasons(
        _ feature: String,
        _ question: CustomerQuestion,
        size: UInt64? = nil
    ) throws -> Reasons {
        let size = try size ?? prefix(knownAt: question.point.knownAt)
        let loaded = try loadFacts(
            of: question.customer,
            environment: question.environment,
            size: size
        )
        let explainer = Explainer(
            of: loaded.asked,
            facts: loaded.facts,
            names: loaded.names,
            catalogs: loaded.catalogs,
            position: { loaded.positions[$0] ?? 0 }
        )
        let view = explainer.view(question.visibility)
        let state = explainer.timeline.state(at: question.point.at)
        let told = explainer.explanation(of: feature, at: question.point.at, in: state, to: view)
        guard var explanation = told else {
            // Each once, however many catalogs list it.
            let features = loaded.catalogs.featureIDs.map(\.text)
            return .unknownFeature(near: NearNames.near(feature, among: features))
        }
        explanation.notUsed += loaded.repeated.map {
            Explanation.Unused(topic: .general, reason: .repeated, sequence: $0)
        }
        explanation.notUsed += explainer.refusedClaims(
            at: try refusedClaims(among: explainer.notedSignals(to: view))
        )
        if view.isWhole {
            explanation.notUsed += try otherEnvironments(question, size: size)
            for index in explanation.completeness.indices {
                let store = explanation.completeness[index].store
                let told = try completeness(of: store, in: question.environment, size: size)
                explanation.completeness[index].completeThrough = told.through
                explanation.completeness[index].lastRefusedAt = told.lastRefusedAt
            }
        }
        let marks = try marks(of: explanation.markedSequences, to: view)
        explanation = explanation.shown(to: view) { marks[$0] != nil }
        explanation.events = marks
        return .found(explanation, size: size, state)
    }

    /// How many events of other environments there are under the customer's name.
    private func otherEnvironments(
        _ question: CustomerQuestion,
        size: UInt64
    ) throws -> [Explanation.Unused] {
        try StoreEnvironment.allCases.filter { $0 != question.environment }.compactMap {
            environment in
            let name = StreamName(.customer(question.customer), in: environment)
            guard let stream = try vault.stream(of: name) else { return nil }
            var loader = FactLoader(log: log, vault: vault, views: views, size: size)
            let count = Set(try loader.facts(ofCustomer: stream).map(\.sequence)).count
            guard count > 0 else { return nil }
            return Explanation.Unused(
                topic: .general,
                reason: .environment(environment, count: count),
                sequence: nil
            )
        }
    }

    /// Events about a store, and signals noted on purchases, that an explanation looks at: the last
    /// ones.
    package static let storeEventLimit = 64

    /// Those of noted signals that are refused claims (Stores, rule 7), the last ones.
    private func refusedClaims(among sequences: [UInt64]) throws -> Set<UInt64> {
        var refused: Set<UInt64> = []
        let wanted = Array(sequences.suffix(Self.storeEventLimit))
        try log.readRecords(wanted) { sequence, record in
            let header = try RecordHeader(checking: record)
            var opened = OpenedEvent(header: header, kind: try header.eventKind())
            try opened.read(record, header.facts) { _ in nil }
            if opened.values[.name] == .text(RefusedClaim.name) {
                refused.insert(sequence)
            }
        }
        return refused
    }

    /// What the log says of those events that a view shows.
    private func marks(
        of sequences: [UInt64],
        to view: CustomerView
    ) throws -> [UInt64: Explanation.EventMark] {
        var marks: [UInt64: Explanation.EventMark] = [:]
        let opener = EventOpener(vault: vault, log: log)
        try log.readRecords(sequences) { sequence, record in
            let header = try RecordHeader(checking: record)
            guard view.shows(header) else { return }
            var opened = OpenedEvent(header: header, kind: try header.eventKind())
            try opened.read(record, header.facts) { _ in nil }
            // A source without a code of its own may stand in the sealed part.
            if opened.source == nil { opened = try opener.open(record) }
            var (offer, resumesAt): (String?, Instant?)
            if case .instant(let instant)? = opened.values[.resumesAt] { resumesAt = instant }
            if case .text(let text)? = opened.values[.offer] { offer = text }
            marks[sequence] = Explanation.EventMark(
                kind: opened.kind,
                time: Instant(milliseconds: header.time),
                recordedAt: Instant(milliseconds: header.recordedAt),
                source: opened.source,
                offer: offer,
                isFamilyShared: opened.values[.ownership] == .text("family_shared"),
                resumesAt: resumesAt
            )
        }
        return marks
    }
}
