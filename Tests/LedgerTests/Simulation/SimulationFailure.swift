/// An invariant that does not hold.
struct SimulationFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
