import { findSuricataAlert } from '../src/detect/suricata-alert.ts';
import { findZeekNotice } from '../src/detect/zeek-notice.ts';
import { type IngestInput, type ParsedBody, parseBody } from '../src/ingest/parse-body.ts';
import { exposeTasks } from '../src/rpc/pool.ts';

const detectors = { suricataAlert: findSuricataAlert, zeekNotice: findZeekNotice };

const tasks = {
  ingest: (input: IngestInput): ParsedBody => parseBody(input, detectors),
};

/** For `createPool<IngestTasks>`. */
export type IngestTasks = typeof tasks;

export default exposeTasks(tasks);
