/** Statistics of the names that one client looked up below one registered domain. */
export interface TunnelFigures {
  /** Distinct names. */
  readonly names: number;
  /** Share of names with a label that looks like encoded data, 0–1. */
  readonly encodedShare: number;
  /** Average number of characters below the registered domain. */
  readonly payload: number;
  /** Share of queries of types that carry more than an address, 0–1. */
  readonly carrierShare: number;
  /**
   * Distinct names per query, 0–1. A tunnel must not repeat a name, because a cache would answer the query.
   */
  readonly uniqueness: number;
  /** Share of NXDOMAIN answers, 0–1. */
  readonly missingShare: number;
  /** Average number of characters of an answer. */
  readonly answer: number;
}

export interface TunnelScore {
  /** Score for the number of names alone, 0–0.8. */
  readonly byNames: number;
  /** Similarity of the names and answers to encoded data, 0–1. */
  readonly content: number;
  /** Factor by which the number of names supports the content score, 0–1. */
  readonly ramp: number;
  /** Total score, 0–1. */
  readonly score: number;
}

/** RITA's thresholds for subdomains (activecm/rita, default configuration), each with its score. */
export const byNames: readonly (readonly [names: number, score: number])[] = [
  [100, 0.2],
  [500, 0.4],
  [800, 0.6],
  [1000, 0.8],
];

/** Weights of the parts of the content score. The weights sum to 1. */
const parts = { encoded: 0.35, carrier: 0.25, uniqueness: 0.2, payload: 0.12, answer: 0.08 } as const;

/** Minimum characters of a name for the full length score. */
const longPayload = 24;
/** Minimum characters of an answer for the full length score. */
const longAnswer = 60;

/**
 * Weight of a name queried with a carrier type, relative to a name queried for an address. Hardly anything except a
 * tunnel queries the text records of many names in one domain.
 */
const carrierWorth = 5;

/** Minimum weighted number of names for using the content score. Half of the score is used at this number. */
const rampFrom = 60;
/** Minimum weighted number of names for using the full content score. */
const rampTo = 300;

/**
 * Share of the score that is subtracted if no name exists and the names are short, because the server of a
 * tunnel usually answers. Random names of a DNS flood look like data as well, and are reported as a storm.
 * One-way exfiltration uses long names.
 */
const missingCosts = 0.6;
const shortestLong = 16;
const surelyLong = 48;

/**
 * Share of the score for the number of names that remains if nothing looks like data: crawlers also look up many host
 * names.
 */
const bareNames = 0.4;

/** Returns the score and its parts. The score is the confidence that the names carry data. */
export function scoreTunnel(seen: TunnelFigures): TunnelScore {
  const content =
    parts.encoded * seen.encodedShare +
    parts.carrier * seen.carrierShare +
    parts.uniqueness * seen.uniqueness +
    parts.payload * Math.min(1, seen.payload / longPayload) +
    parts.answer * seen.carrierShare * Math.min(1, seen.answer / longAnswer);
  const worth = seen.names * (1 + (carrierWorth - 1) * seen.carrierShare);
  const ramp = worth < rampFrom ? 0 : Math.min(1, 0.5 + (0.5 * (worth - rampFrom)) / (rampTo - rampFrom));
  const ofNames = interpolate(seen.names);
  // Without encoded names, there is no content score.
  const ofContent = ramp * content * Math.min(1, 2 * seen.encodedShare);
  const bare = ofNames * (bareNames + (1 - bareNames) * content);
  const length = Math.max(0, Math.min(1, (seen.payload - shortestLong) / (surelyLong - shortestLong)));
  // Combines the scores like independent probabilities: either score is sufficient, and both together give a higher
  // score.
  const score = (1 - (1 - ofContent) * (1 - bare)) * (1 - missingCosts * seen.missingShare * (1 - length));
  return { byNames: ofNames, content, ramp, score };
}

function interpolate(names: number): number {
  let before: readonly [number, number] | undefined;
  for (const step of byNames) {
    if (names < step[0]) {
      if (before === undefined) return 0;
      return before[1] + ((step[1] - before[1]) * (names - before[0])) / (step[0] - before[0]);
    }
    before = step;
  }
  return before![1];
}
