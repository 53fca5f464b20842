/** Rounds to three decimal places. */
export const thousandths = (value: number): number => Math.round(value * 1000) / 1000;
