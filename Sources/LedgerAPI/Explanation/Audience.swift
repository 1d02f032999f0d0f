/// For whom an explanation is told.
public enum Audience: String, CaseIterable, Sendable {
    /// With the rules of the model and the events by number.
    case developer
    /// In plain sentences, with names of purchases and products.
    case support
    /// In plain sentences that name nothing internal.
    case customer
}
