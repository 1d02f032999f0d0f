/// What is wrong with a configuration of stores, and where.
public struct StoresConfigurationFault: Error, Hashable, Sendable {
    /// Where, such as `appStore.roots[0]`.
    public var path: String
    /// A sentence that says what is expected; holds no value from the configuration.
    public var detail: String

    /// Makes a fault.
    public init(_ path: String, _ detail: String) {
        self.path = path
        self.detail = detail
    }
}
