import type { ParsedTerm } from '../../contract/filter-term.ts';
import type { ParsedFilter } from '../../contract/query.ts';

/**
 * Filter of events. `from` and `to` are the range of `timestamp`; `q` is searched in names, answers, connection ids and
 * addresses (free-text.ts). Used for lists, live subscriptions and replays.
 */
export type EventFilter = ParsedFilter;

/**
 * A term for one field: an attribute of the resource, `ip` (source or destination address), `asset_id` (asset of either
 * address), or `answer` (data of a DNS answer). Address values may be CIDR blocks.
 */
export type FilterTerm = ParsedTerm;
