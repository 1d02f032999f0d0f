import Crypto
import Encodings
import Entitlements
import EventLog
import LedgerAPI

/// Why a decision token is not answered.
public struct TokenRefusal: Error, Hashable, Sendable {
    /// What kind.
    public var code: Code
    /// A sentence; holds no id.
    public var message: String

    /// The closed set of reasons.
    public enum Code: String, Sendable {
        /// The log is shorter than the prefix that the token names: another ledger's, or a copy
        /// that is behind.
        case unknownSequence = "unknown_sequence"
        /// Nothing of the prefix names the customer: who asks must.
        case customerMissing = "customer_missing"
        /// The token is about somebody else than was said.
        case otherCustomer = "other_customer"
        /// The customer's name is gone.
        case erased
        /// Nothing that could name a customer stands where the token points.
        case otherLedger = "other_ledger"
        /// The answer is another one now.
        case differs
    }
}

extension TokenRefusal {
    fileprivate static let otherLedger = TokenRefusal(
        code: .otherLedger,
        message: "the log names no customer where the token points"
    )
}

extension Questions {
    /// Asks again what a token stands for, and proves that the answer is the same (row Z11).
    ///
    /// `customer`: who is meant, for a token that names nobody; else it is compared.
    ///
    /// - Throws: `TokenRefusal`; `differs` where rules, log or views say otherwise than then.
    public func answer(to token: DecisionToken, customer asked: String? = nil) throws -> TokenAnswer
    {
        guard try token.size <= size() else {
            throw TokenRefusal(
                code: .unknownSequence,
                message: "the token is of \(token.size) events, the log has fewer"
            )
        }
        let customer = try customer(of: token, asked)
        let question = CustomerQuestion(
            customer: customer,
            environment: token.environment,
            point: BitemporalPoint(
                at: token.at,
                knownAt: token.known.map { .instant($0) } ?? .sequence(token.size)
            ),
            visibility: token.visibility
        )
        let answer = try answer(to: question, token)
        // Rules of a later program have fields that this one does not know.
        guard token.rules <= RulesVersion.current, answer.token == token.text else {
            throw TokenRefusal(
                code: .differs,
                message: token.rules == RulesVersion.current
                    ? "the ledger answers otherwise than when the token was given"
                    : "the token is of rules \(token.rules), this program's are \(RulesVersion.current)"
            )
        }
        return answer
    }

    /// The answer by the fields that the token's rules had.
    private func answer(
        to question: CustomerQuestion,
        _ token: DecisionToken
    ) throws -> TokenAnswer {
        let (size, rules) = (token.size, token.rules)
        switch token.answer {
        case .state: return .state(try show(question, size: size, rules: rules))
        case .access:
            let feature = token.feature ?? ""
            return .access(try accessAnswer(feature, question, size: size, rules: rules))
        case .timeline:
            return .timeline(try timelineAnswer(question, size: size, rules: rules))
        case .purchases:
            return .purchases(try purchases(of: question, size: size, rules: rules))
        }
    }

    /// The name of the customer whom a token is about.
    private func customer(of token: DecisionToken, _ asked: String?) throws -> String {
        guard let place = token.customer else {
            guard let asked else {
                throw TokenRefusal(
                    code: .customerMissing,
                    message: "nothing that was recorded names the customer: say who is meant"
                )
            }
            return asked
        }
        var streams: [UInt64] = []
        if place.sequence < token.size {
            try log.readRecords([place.sequence]) { _, record in
                streams = try RecordHeader(checking: record).indexEntry(record).streams
            }
        }
        guard Int(place.index) < streams.count else { throw TokenRefusal.otherLedger }
        guard let subject = try vault.name(of: streams[Int(place.index)])?.subject else {
            throw TokenRefusal(code: .erased, message: "no name stands where the token points")
        }
        guard case .customer(let name)? = Subject(subject) else { throw TokenRefusal.otherLedger }
        if let asked, !asked.isSame(as: name) {
            throw TokenRefusal(code: .otherCustomer, message: "the token is about another customer")
        }
        return name
    }

    /// The token of the decision that an explanation is about: `can` answers it again.
    ///
    /// `size`: of the prefix that was explained. Cost: as the decision.
    public func token(
        ofAccessTo feature: String,
        _ question: CustomerQuestion,
        size: UInt64
    ) throws -> String {
        try accessAnswer(feature, question, size: size).token ?? ""
    }

    /// Writes an answer with its token as the last member.
    ///
    /// Cost: a look-up of the customer's first event and one pass of SHA-256 over the answer.
    func written<Answer: Provable>(
        _ kind: DecisionToken.Answer,
        _ question: CustomerQuestion,
        size: UInt64,
        feature: String? = nil,
        rules: UInt16,
        _ answer: Answer
    ) throws -> Written<Answer> {
        let place = try place(of: question, below: size)
        return Written(answer, version: rules) { text in
            DecisionToken(
                answer: kind,
                visibility: question.visibility,
                environment: question.environment,
                at: question.point.at,
                known: question.echo(size: size).known,
                size: size,
                rules: rules,
                customer: place,
                feature: feature,
                digest: Array(
                    SHA256.hash(data: text.bytes).prefix(DecisionToken.digestCount)
                )
            ).text
        }
    }

    /// Where a prefix names a customer first, under the name that was asked for.
    private func place(
        of question: CustomerQuestion,
        below size: UInt64
    ) throws -> DecisionToken.Place? {
        let name = StreamName(.customer(question.customer), in: question.environment)
        guard let stream = try vault.stream(of: name),
            let first = try views.entries(of: stream, below: size).first
        else { return nil }
        var index = 0
        try log.readRecords([first.sequence]) { _, record in
            let streams = try RecordHeader(checking: record).indexEntry(record).streams
            index = streams.firstIndex(of: stream) ?? 0
        }
        // A record of at most 64 KiB may name more streams than one byte counts.
        return UInt8(exactly: index).map {
            DecisionToken.Place(sequence: first.sequence, index: $0)
        }
    }
}
