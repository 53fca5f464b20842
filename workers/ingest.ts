import { RecordRules } from '../src/detect/record-rules.ts';
import { findSuricataAlert } from '../src/detect/suricata-alert.ts';
import { findZeekNotice } from '../src/detect/zeek-notice.ts';
import { type IngestInput, type ParsedBody, parseBody } from '../src/ingest/parse-body.ts';
import { exposeTasks } from '../src/rpc/pool.ts';

/** As compiled in this thread, which asks them one task at a time. */
const rules = new RecordRules();
const detectors = { suricataAlert: findSuricataAlert, zeekNotice: findZeekNotice };

const tasks = {
  ingest: (input: IngestInput): ParsedBody =>
    parseBody(input, { ...detectors, rules: input.rules && rules.at(input.rules) }),
};

/** For `createPool<IngestTasks>`. */
export type IngestTasks = typeof tasks;

export default exposeTasks(tasks);
