/** A log that is checked again this often against pins that change meanwhile is left for the next check. */
const maxTries = 4;

/**
 * Takes what a check says of the pin that is kept when it ends. One that was pinned or imported while the check ran takes its
 * place: what was found of the one before is no verdict on it, and it is checked itself. Undefined where they go on
 * changing.
 *
 * @param kept - the pin as it is stored, null for none
 * @param take - is given the verdict at once, while it is of the pin that is kept
 */
export async function takeVerdict<Verdict, Taken>(
  kept: () => string | null,
  check: (pin: string | null) => Promise<Verdict>,
  take: (verdict: Verdict) => Taken,
): Promise<Taken | undefined> {
  for (let tries = 0; tries < maxTries; tries++) {
    const pin = kept();
    const verdict = await check(pin);
    if (kept() === pin) return take(verdict);
  }
  return undefined;
}
