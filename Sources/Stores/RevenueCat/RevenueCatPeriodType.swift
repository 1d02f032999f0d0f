/// How a period is sold: RevenueCat's `period_type`, in capitals in webhooks and in small letters in
/// answers.
enum RevenueCatPeriodType {
    case normal, trial, introductory, promotional
    /// It does not renew.
    case prepaid

    /// What is not known is sold like most.
    init(_ text: String?) {
        switch text?.uppercased() {
        case "TRIAL": self = .trial
        case "INTRO": self = .introductory
        case "PROMOTIONAL": self = .promotional
        case "PREPAID": self = .prepaid
        default: self = .normal
        }
    }

    /// What the period is offered as; nil: at its price.
    var offer: String? {
        switch self {
        case .trial: "trial"
        case .introductory: "introductory"
        case .promotional: "promotional"
        case .normal, .prepaid: nil
        }
    }
}
