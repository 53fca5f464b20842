import { InvalidArgumentError, Option } from 'commander';

/** The token of the environment, so that it needn't stand in a command line that others can read. */
export const tokenOption = () =>
  new Option('--token <token>', 'bearer token, for what needs a role (log entries)').env('CANDOR_TOKEN');

export const jsonOption = () => new Option('--json', 'machine-readable output, one JSON object a line');

/** The address of a service, without a slash at the end. */
export function serviceUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:')
    throw new InvalidArgumentError('wanted an http(s) address');
  return url.href.replace(/\/+$/, '');
}

export function wholeNumber(text: string): number {
  const number = Number(text);
  if (!/^(0|[1-9][0-9]*)$/.test(text) || !Number.isSafeInteger(number))
    throw new InvalidArgumentError('wanted a whole number');
  return number;
}

export function seconds(text: string): number {
  const number = wholeNumber(text);
  if (number === 0) throw new InvalidArgumentError('wanted at least one second');
  return number;
}
