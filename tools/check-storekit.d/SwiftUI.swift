// What the example's view uses of SwiftUI, as Apple documents it (developer.apple.com/documentation/swiftui): only its
// shape, so that the page's code is held against types where there is no SwiftUI. Nothing is drawn here.

@MainActor @preconcurrency
public protocol View {
    associatedtype Body: View
    @ViewBuilder @MainActor @preconcurrency var body: Body { get }
}

extension Never: View {
    public var body: Never { return preconditionFailure() }
}

/// A view that is made of no other.
@MainActor
public struct Shape: View {
    init() {}
    public var body: Never { return preconditionFailure() }
}

public struct Pair<Content>: View {
    nonisolated init(_ content: Content) {}
    public var body: Never { return preconditionFailure() }
}

public struct Either<First: View, Second: View>: View {
    nonisolated init() {}
    public var body: Never { return preconditionFailure() }
}

extension Optional: View where Wrapped: View {
    public var body: Never { return preconditionFailure() }
}

@resultBuilder
public enum ViewBuilder {
    public static func buildBlock<each Content: View>(
        _ content: repeat each Content
    ) -> Pair<(repeat each Content)> { Pair((repeat each content)) }
    public static func buildIf<Content: View>(_ content: Content?) -> Content? { content }
    public static func buildEither<First: View, Second: View>(
        first: First
    ) -> Either<First, Second> { Either() }
    public static func buildEither<First: View, Second: View>(
        second: Second
    ) -> Either<First, Second> { Either() }
}

public struct VStack<Content: View>: View {
    public init(@ViewBuilder content: () -> Content) {}
    public var body: Never { return preconditionFailure() }
}

public struct Text: View {
    public init<S: StringProtocol>(_ content: S) {}
    public var body: Never { return preconditionFailure() }
}

public struct ProgressView: View {
    public init() {}
    public var body: Never { return preconditionFailure() }
}

public struct Button: View {
    @preconcurrency
    public init<S: StringProtocol>(_ title: S, action: @escaping @MainActor () -> Void) {}
    public var body: Never { return preconditionFailure() }
}

@propertyWrapper
public struct Binding<Value> {
    public init(wrappedValue: Value) { self.wrappedValue = wrappedValue }
    public var wrappedValue: Value
}

@propertyWrapper
public struct State<Value> {
    public init(initialValue: Value) { stored = initialValue }
    public init(wrappedValue: Value) { stored = wrappedValue }
    public var wrappedValue: Value {
        get { stored }
        nonmutating set {}
    }
    private let stored: Value
    public var projectedValue: Binding<Value> { Binding(wrappedValue: wrappedValue) }
}

public enum ScenePhase { case background, inactive, active }

public struct EnvironmentValues {
    public var scenePhase: ScenePhase { .active }
}

@propertyWrapper
public struct Environment<Value> {
    public init(_ path: KeyPath<EnvironmentValues, Value>) {
        wrappedValue = EnvironmentValues()[keyPath: path]
    }
    public let wrappedValue: Value
}

extension View {
    public func disabled(_ isDisabled: Bool) -> some View { Shape() }
    public func confirmationDialog<S: StringProtocol, Actions: View>(
        _ title: S,
        isPresented: Binding<Bool>,
        @ViewBuilder actions: () -> Actions
    ) -> some View { Shape() }
    public func task(_ action: @escaping @Sendable @isolated(any) () async -> Void) -> some View {
        Shape()
    }
    public func onChange<Value: Equatable>(
        of value: Value,
        initial: Bool = false,
        _ action: @escaping () -> Void
    ) -> some View { Shape() }
}
