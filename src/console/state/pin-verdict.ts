/** Maximum attempts of a check whose pin changes while the check runs. After that, the next scheduled check decides. */
const maxTries = 4;

/**
 * Checks the stored pin and passes the verdict to `take`. If the pin was replaced while the check ran, the verdict is
 * about the old pin, and the new pin is checked instead. Resolves to undefined if the pin keeps changing.
 *
 * @param kept - returns the pin as stored; null if there is no pin
 * @param take - called synchronously with the verdict, while the checked pin is still stored
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
