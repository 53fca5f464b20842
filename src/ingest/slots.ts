/** The words of a text that are separated by spaces. */
type Words<S extends string> = S extends `${infer First} ${infer Rest}` ? First | Words<Rest> : S;

/** Returns the slots of fields, from 0, by their names. Both texts are names separated by spaces. */
export function slotsOf<const A extends string, const B extends string>(
  shared: A,
  own: B,
): Readonly<Record<Words<A> | Words<B>, number>> {
  const names = `${shared} ${own}`.trimEnd().split(' ');
  return Object.fromEntries(names.map((name, slot) => [name, slot])) as Record<Words<A> | Words<B>, number>;
}
