public import LedgerAPI

/// What a decision token stood for, answered again.
public enum TokenAnswer: Hashable, Sendable {
    /// `show`.
    case state(Written<StateAnswer>)
    /// `can`.
    case access(Written<AccessAnswer>)
    /// `timeline`.
    case timeline(Written<TimelineAnswer>)
    /// `purchases`.
    case purchases(Written<PurchasesAnswer>)

    /// The answer's JSON text.
    public var text: AnswerText {
        switch self {
        case .state(let answer): answer.text
        case .access(let answer): answer.text
        case .timeline(let answer): answer.text
        case .purchases(let answer): answer.text
        }
    }

    /// Whom and which point it is about.
    package var question: QuestionEcho {
        switch self {
        case .state(let answer): answer.question
        case .access(let answer): answer.question
        case .timeline(let answer): answer.question
        case .purchases(let answer): answer.question
        }
    }

    /// The token that the answer carries.
    var token: String? {
        switch self {
        case .state(let answer): answer.token
        case .access(let answer): answer.token
        case .timeline(let answer): answer.token
        case .purchases(let answer): answer.token
        }
    }
}
