/**
 * Returns the position of the first of `count` ordered numbers that is not below `wanted`; `count` if all are
 * below.
 */
export function lowerBound(count: number, at: (place: number) => number, wanted: number): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (at(middle) < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}
