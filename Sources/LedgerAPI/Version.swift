/// The version that command and server state.
package enum ProductVersion {
    /// Semantic version of the product.
    package static let current = "0.5.0"
}
