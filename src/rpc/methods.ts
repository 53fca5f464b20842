/** What can be called across threads: an object of asynchronous methods and nothing else. */
export type Callable<T> = { [K in keyof T]: (...args: never) => Promise<unknown> };

/** The other side of `Callable`: a method may answer at once or with a promise. */
export type Implementation<T> = {
  [K in keyof T]: T[K] extends (...args: infer A) => Promise<infer R>
    ? (...args: A) => R | Promise<R>
    : never;
};

declare const interfaceOf: unique symbol;

/** The methods of `T`, all of them, by name: what a connection offers and what a worker answers. */
export interface MethodList<T> {
  readonly names: readonly (keyof T & string)[];
  /** Only a type: ties the list to its interface. */
  readonly [interfaceOf]?: (it: T) => T;
}

type Complete<T, L extends readonly unknown[]> = [Exclude<keyof T, L[number]>] extends [never]
  ? unknown
  : { readonly missing: Exclude<keyof T, L[number]> };

/**
 * A list of method names that the compiler proves complete: `methods<Ledger>()(['append', …])`. A missing name,
 * an unknown name and an interface with a member that isn't an asynchronous method do not compile. (Two pairs of
 * parentheses, because TypeScript infers either all type parameters or none.)
 */
export function methods<T extends Callable<T>>(): <const L extends readonly (keyof T & string)[]>(
  list: L & Complete<T, L>,
) => MethodList<T> {
  return (list) => ({ names: list });
}
