import Crypto
import Encodings
public import Entitlements
import EventLog
import LedgerAPI
import PostingIndex

/// Why a decision token is not answered.
public struct TokenRefusal: Hashable, Sendable {
    /// What kind.
    public var code: Code
    /// A sentence; holds no id.
    public var message: String

    /// Makes a refusal.
    package init(code: Code, message: String) {
        self.code = code
        self.message = message
    }

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
        /// The log has other events up to there: it was restored to less and went on, or is another
        /// ledger's.
        case otherHistory = "other_history"
        /// The answer is another one now.
        case differs
    }
}

/// What becomes of a decision token that is asked again.
public enum TokenOutcome: Hashable, Sendable {
    /// The answer, the same as when the token was given.
    case answered(TokenAnswer)
    /// It is not answered.
    case refused(TokenRefusal)

    /// The answer; nil: it is refused.
    package var answer: TokenAnswer? {
        guard case .answered(let answer) = self else { return nil }
        return answer
    }

    /// Why it is not answered; nil: it is.
    package var refusal: TokenRefusal? {
        guard case .refused(let refusal) = self else { return nil }
        return refusal
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
    /// - Returns: the answer; a refusal `differs` where rules, log or views say otherwise than then.
    /// - Throws: `LedgerFault`, `LogStorageFault`.
    public func answer(
        to token: DecisionToken,
        customer asked: CustomerID? = nil
    ) throws -> TokenOutcome {
        guard try token.size <= size() else {
            return .refused(
                TokenRefusal(
                    code: .unknownSequence,
                    message: "the token is of \(token.size) events, the log has fewer"
                )
            )
        }
        if let root = token.root, try root != rootPrefix(at: token.size) {
            return .refused(
                TokenRefusal(
                    code: .otherHistory,
                    message: "the log's first \(token.size) events are others than the token's, "
                        + "or their hashes are lost"
                )
            )
        }
        let customer: CustomerID
        switch try self.customer(of: token, asked) {
        case .named(let name): customer = name
        case .refused(let refusal): return .refused(refusal)
        }
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
            return .refused(
                TokenRefusal(
                    code: .differs,
                    message: token.rules == RulesVersion.current
                        ? "the ledger answers otherwise than when the token was given"
                        : "the token is of rules \(token.rules), this program's are \(RulesVersion.current)"
                )
            )
        }
        return .answered(answer)
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

    /// The customer whom a token is about.
    private enum TokenCustomer {
        case named(CustomerID)
        case refused(TokenRefusal)
    }

    private func customer(of token: DecisionToken, _ asked: CustomerID?) throws -> TokenCustomer {
        guard let place = token.customer else {
            guard let asked else {
                return .refused(
                    TokenRefusal(
                        code: .customerMissing,
                        message: "nothing that was recorded names the customer: say who is meant"
                    )
                )
            }
            return .named(asked)
        }
        var streams: [UInt64] = []
        if place.sequence < token.size {
            try log.readRecords([place.sequence]) { _, record in
                guard !LostRecord.isOne(record) else { return }
                streams = try RecordHeader(checking: record).indexEntry(record).streams
            }
        }
        guard Int(place.index) < streams.count else { return .refused(.otherLedger) }
        guard let subject = try vault.name(of: streams[Int(place.index)])?.subject else {
            return .refused(
                TokenRefusal(code: .erased, message: "no name stands where the token points")
            )
        }
        guard case .customer(let name)? = Subject(subject) else { return .refused(.otherLedger) }
        if let asked, asked != name {
            return .refused(
                TokenRefusal(code: .otherCustomer, message: "the token is about another customer")
            )
        }
        return .named(name)
    }

    /// The token of the decision that an explanation is about: `can` answers it again.
    ///
    /// `size`: of the prefix that was explained, which `state` was folded from. Cost: as the
    /// writing of the decision.
    package func token(
        ofAccessTo explanation: Explanation,
        _ question: CustomerQuestion,
        size: UInt64,
        _ state: CustomerState
    ) throws -> String {
        try accessAnswer(
            explanation.feature,
            question,
            size: size,
            state,
            catalog: explanation.catalog
        )
        .token ?? ""
    }

    /// Writes an answer with its token as the last member.
    ///
    /// Cost: a look-up of the customer's first event, the root at the size, and one pass of SHA-256
    /// over the answer.
    func written<Answer: Provable>(
        _ kind: DecisionToken.Answer,
        _ question: CustomerQuestion,
        size: UInt64,
        feature: String? = nil,
        rules: UInt16,
        _ answer: Answer
    ) throws -> Written<Answer> {
        let place = try place(of: question, below: size)
        let root = rules < RulesVersion.ofRoots ? nil : try rootPrefix(at: size)
        return Written(answer, version: rules) { text in
            DecisionToken(
                answer: kind,
                visibility: question.visibility,
                environment: question.environment,
                at: question.point.at,
                known: question.echo(size: size).known,
                size: size,
                root: root,
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
