/** What was seen of the names that one client asked for below one registered domain. */
export interface TunnelFigures {
  /** Different names. */
  readonly names: number;
  /** Of the names, those with a label that looks like encoded data, 0–1. */
  readonly encodedShare: number;
  /** Characters below the registered domain, on average. */
  readonly payload: number;
  /** Of the questions, those of types that carry more than an address, 0–1. */
  readonly carrierShare: number;
  /** Different names for each question, 0–1: a tunnel must not repeat one, or a cache answers. */
  readonly uniqueness: number;
  /** Of the answers, those that say that there is no such name, 0–1. */
  readonly missingShare: number;
  /** Characters of an answer, on average. */
  readonly answer: number;
}

export interface TunnelScore {
  /** By the number of names alone, 0–0.8. */
  readonly byNames: number;
  /** How much the names and answers look like data, 0–1. */
  readonly content: number;
  /** How far the number of names bears out what their content says, 0–1. */
  readonly ramp: number;
  /** Of all, 0–1. */
  readonly score: number;
}

/** RITA's thresholds of subdomains (activecm/rita, default configuration) and what each is worth. */
export const byNames: readonly (readonly [names: number, score: number])[] = [
  [100, 0.2],
  [500, 0.4],
  [800, 0.6],
  [1000, 0.8],
];

/** What the parts of the content are worth: together 1. */
const parts = { encoded: 0.35, carrier: 0.25, uniqueness: 0.2, payload: 0.12, answer: 0.08 } as const;

/** Characters from which on a name, and an answer, is as long as data need it. */
const longPayload = 24;
const longAnswer = 60;

/**
 * A name that was asked for by a carrier's type is worth so many that ask for addresses: hardly anything but a tunnel asks
 * for texts of many names in one domain.
 */
const carrierWorth = 5;

/** Names, so weighed, from which on content counts by half, and wholly. */
const rampFrom = 60;
const rampTo = 300;

/**
 * What part is taken away where no name exists and names are short: a tunnel's server answers, mostly. Names at random that
 * are asked for to bring servers down look like data as well, and are a storm; but who only sends makes them long.
 */
const missingCosts = 0.6;
const shortestLong = 16;
const surelyLong = 48;

/** Of the score by names, what remains where nothing looks like data: catalogues of hosts are read, and crawled. */
const bareNames = 0.4;

/** How sure it is that the names carry data. */
export function scoreTunnel(seen: TunnelFigures): TunnelScore {
  const content =
    parts.encoded * seen.encodedShare +
    parts.carrier * seen.carrierShare +
    parts.uniqueness * seen.uniqueness +
    parts.payload * Math.min(1, seen.payload / longPayload) +
    parts.answer * seen.carrierShare * Math.min(1, seen.answer / longAnswer);
  const worth = seen.names * (1 + (carrierWorth - 1) * seen.carrierShare);
  // Without encoded names there is no content that a number could bear out.
  const ramp = worth < rampFrom ? 0 : Math.min(1, 0.5 + (0.5 * (worth - rampFrom)) / (rampTo - rampFrom));
  const ofNames = interpolate(seen.names);
  const ofContent = ramp * content * Math.min(1, 2 * seen.encodedShare);
  const bare = ofNames * (bareNames + (1 - bareNames) * content);
  const length = Math.max(0, Math.min(1, (seen.payload - shortestLong) / (surelyLong - shortestLong)));
  // Either is enough, and both together are more than one.
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
