/// The version that command and server state.
public enum ProductVersion {
    /// Semantic version of the product.
    public static let current = "0.5.0"
}
