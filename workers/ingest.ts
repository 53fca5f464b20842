import { type PackedRules, RecordRules } from '../src/detect/record-rules.ts';
import { findSuricataAlert } from '../src/detect/suricata-alert.ts';
import { findZeekNotice } from '../src/detect/zeek-notice.ts';
import { type ParsedGroup, parseBodies } from '../src/ingest/parse-bodies.ts';
import type { IngestInput } from '../src/ingest/parse-body.ts';
import { toFault } from '../src/rpc/fault.ts';
import { exposeTasks } from '../src/rpc/pool.ts';

/** Rules compiled in this thread, which runs one task at a time. */
const rules = new RecordRules();
const detectors = { suricataAlert: findSuricataAlert, zeekNotice: findZeekNotice };

/** Request bodies, and the rules that are evaluated on their records. Without `rules`, no rules are evaluated. */
interface IngestTask {
  readonly bodies: readonly IngestInput[];
  readonly rules?: PackedRules;
}

const tasks = {
  ingest({ bodies, rules: inEffect }: IngestTask) {
    const { groups, places } = parseBodies(bodies, { ...detectors, rules: inEffect && rules.at(inEffect) });
    const results = places.map((place) => ('error' in place ? { fault: toFault(place.error) } : place));
    return { groups: groups as ParsedGroup[], places: results };
  },
};

/** The task table for `createPool<IngestTasks>`. */
export type IngestTasks = typeof tasks;

export default exposeTasks(tasks);
