/** An interface that can be called across threads: asynchronous methods only. */
export type Callable<T> = { [K in keyof T]: (...args: never) => Promise<unknown> };

/** The implementation of a `Callable`: methods may return a value or a promise. */
export type Implementation<T> = {
  [K in keyof T]: T[K] extends (...args: infer A) => Promise<infer R> ? (...args: A) => R | Promise<R> : never;
};

declare const interfaceOf: unique symbol;

/** The names of all methods of `T`. A connection offers these methods, and a worker serves them. */
export interface MethodList<T> {
  readonly names: readonly (keyof T & string)[];
  /** Ties the list to its interface; exists only as a type. */
  readonly [interfaceOf]?: (it: T) => T;
}

type Complete<T, L extends readonly unknown[]> = [Exclude<keyof T, L[number]>] extends [never]
  ? unknown
  : { readonly missing: Exclude<keyof T, L[number]> };

/**
 * Creates a list of method names that the compiler proves complete: `methods<Ledger>()(['append', …])`. A
 * missing name, an unknown name, or an interface with a member that is not an asynchronous method does not
 * compile. (There are two pairs of parentheses because TypeScript infers either all type parameters or none.)
 */
export function methods<T extends Callable<T>>(): <const L extends readonly (keyof T & string)[]>(
  list: L & Complete<T, L>,
) => MethodList<T> {
  return (list) => ({ names: list });
}
