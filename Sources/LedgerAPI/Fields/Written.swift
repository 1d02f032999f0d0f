import Entitlements

/// An answer and its JSON text, which is made once: the token, the entity tag and the body are of
/// these bytes.
@dynamicMemberLookup
public struct Written<Answer: JSONWritable>: Hashable, Sendable {
    /// The answer.
    public let answer: Answer
    /// Its text.
    public let text: AnswerText

    /// Writes an answer.
    public init(_ answer: Answer) {
        self.answer = answer
        text = answer.jsonText
    }

    /// What the answer says.
    public subscript<Value>(dynamicMember path: KeyPath<Answer, Value>) -> Value {
        answer[keyPath: path]
    }
}

/// An answer that carries a decision token (row Z11).
package protocol Provable: AboutCustomer {
    /// What asks the same question again and proves the answer; nil: the answer is masked.
    var token: String? { get set }
}

/// An answer about a customer.
package protocol AboutCustomer: Described {
    /// Whom and which point it is about.
    var question: QuestionEcho { get }
}

extension Written where Answer: Provable {
    /// Writes an answer with its token as the last member.
    ///
    /// `version`: the rules by which it is written (`RulesVersion`). `token`: makes the token from
    /// the text without it.
    package init(
        _ answer: Answer,
        version: UInt16 = RulesVersion.current,
        token: (AnswerText) throws -> String
    ) rethrows {
        var text = AnswerText(answer, version: version, without: "token")
        var answer = answer
        answer.token = try token(text)
        Answer.fields.add("token", of: answer, to: &text)
        self.answer = answer
        self.text = text
    }
}

extension Written where Answer == AccessAnswer {
    /// The answer to whom did not ask for its token.
    public var withoutToken: Self {
        var answer = answer
        answer.token = nil
        return Self(answer)
    }
}
