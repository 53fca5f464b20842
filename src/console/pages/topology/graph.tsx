import cytoscape, { type Core, type ElementDefinition, type NodeSingular, type StylesheetJson } from 'cytoscape';
import { useEffect, useRef } from 'preact/hooks';
import { shownTheme } from '../../state/preferences.ts';
import { compact, counted } from '../../ui/format.ts';
import { type Box, boxId, elsewhere, nameWithin, type Place } from './arrange.ts';
import { characterWidth, maxCharacters, roomFor } from './labels.ts';
import { type Bundle, mostImportant, thickness } from './lines.ts';

interface GraphProps {
  readonly boxes: readonly Box[];
  readonly places: ReadonlyMap<string, Place>;
  readonly bundles: readonly Bundle[];
  /** The selected node or network; elements that are not connected to it are dimmed. */
  readonly selected: string | undefined;
  readonly onSelect: (id: string | undefined) => void;
  /** Opens or closes an external network. */
  readonly onToggle: (network: string) => void;
  /** Ids of nodes and edges added since the page was opened. */
  readonly fresh: ReadonlySet<string>;
}

const maxLines = 1500;

/** The interactive graph. The table has the same data. */
export function Graph(props: GraphProps) {
  const host = useRef<HTMLDivElement>(null);
  const core = useRef<Core | undefined>(undefined);
  const moved = useRef(false);
  const latest = useRef(props);
  latest.current = props;
  const theme = shownTheme();
  const { boxes, places, bundles, selected, fresh } = props;

  useEffect(() => {
    if (host.current === null) return;
    const made = cytoscape({
      container: host.current,
      minZoom: 0.05,
      maxZoom: 4,
      boxSelectionEnabled: false,
      autoungrabify: true,
      // Keeps panning of large graphs fast.
      textureOnViewport: true,
      hideEdgesOnViewport: false,
      pixelRatio: 'auto',
    });
    made.on('tap', (event) => {
      if (event.target === made) latest.current.onSelect(undefined);
      else latest.current.onSelect(event.target.isNode() ? event.target.id() : event.target.source().id());
    });
    made.on('dbltap', 'node[closed], node[outside]', (event) => latest.current.onToggle(event.target.data('network')));
    // Fits the graph after the window is resized, unless the user has zoomed or panned.
    made.on('scrollzoom dragpan pinchzoom', () => {
      moved.current = true;
    });
    made.on('resize', () => {
      if (!moved.current && !made.destroyed()) made.fit(undefined, 24);
    });
    let due = 0;
    const later = () => {
      cancelAnimationFrame(due);
      due = requestAnimationFrame(() => nameNodes(made));
    };
    made.on('viewport resize add remove', later);
    made.on('mouseover mouseout', 'node', ({ target, type }) => {
      target.toggleClass('pointed', type === 'mouseover');
      later();
    });
    core.current = made;
    return () => {
      cancelAnimationFrame(due);
      made.destroy();
      core.current = undefined;
    };
  }, []);

  useEffect(() => {
    core.current?.style(styles());
  }, [theme]);

  useEffect(() => {
    const shown = core.current;
    if (shown === undefined) return;
    const isFirst = shown.nodes().empty();
    show(shown, elements(boxes, places, bundles, fresh));
    if (isFirst) shown.fit(undefined, 24);
  }, [boxes, places, bundles, fresh]);

  useEffect(() => {
    const shown = core.current;
    if (shown === undefined) return;
    shown.batch(() => {
      shown.elements().removeClass('dimmed chosen');
      if (selected === undefined) return;
      const node = shown.getElementById(selected);
      if (node.empty()) return;
      const own = node.union(node.children());
      const near = own.union(own.connectedEdges()).union(own.connectedEdges().connectedNodes());
      shown.elements().difference(near.union(near.parents())).addClass('dimmed');
      near.edges().addClass('chosen');
      node.addClass('chosen');
    });
    nameNodes(shown);
  }, [selected, boxes, bundles]);

  const zoom = (by: number) => {
    const shown = core.current;
    if (shown === undefined) return;
    moved.current = true;
    const middle = { x: shown.width() / 2, y: shown.height() / 2 };
    shown.zoom({ level: shown.zoom() * by, renderedPosition: middle });
  };
  const showAll = () => {
    moved.current = false;
    core.current?.fit(undefined, 24);
  };
  return (
    <div class="topology-graph">
      {/* An element with this id keeps cytoscape from adding its own styles, which the content security policy blocks. */}
      <div
        id="__________cytoscape_stylesheet"
        ref={host}
        class="topology-canvas"
        role="img"
        aria-label={describeGraph(boxes, bundles)}
      />
      <div class="topology-zoom">
        <button type="button" aria-label="Zoom in" onClick={() => zoom(1.4)}>
          +
        </button>
        <button type="button" aria-label="Zoom out" onClick={() => zoom(1 / 1.4)}>
          −
        </button>
        <button type="button" aria-label="Fit to screen" onClick={showAll}>
          ⤢
        </button>
      </div>
    </div>
  );
}

/** Returns the label of a closed network. */
export const nameOf = ({ id, nodes }: Box): string =>
  id === elsewhere ? `${compact(nodes.length)} other\nexternal addresses` : `${id}\n${compact(nodes.length)} addresses`;

const describeGraph = (boxes: readonly Box[], bundles: readonly Bundle[]): string =>
  `${counted(
    boxes.reduce((sum, { nodes }) => sum + nodes.length, 0),
    'host',
  )} in ${counted(boxes.length, 'network')}, ${counted(bundles.length, 'line')}. The table has the same data.`;

function elements(
  boxes: readonly Box[],
  places: ReadonlyMap<string, Place>,
  bundles: readonly Bundle[],
  fresh: ReadonlySet<string>,
): ElementDefinition[] {
  const nodes = boxes.flatMap((box): ElementDefinition[] => {
    const network = { network: box.id, ...(box.isHome ? {} : { outside: true }) };
    if (!box.isOpen)
      return [
        {
          data: { id: box.id, label: nameOf(box), closed: true, ...network },
          position: places.get(box.id)!,
        },
      ];
    const hosts = box.nodes.map(
      (node): ElementDefinition => ({
        data: {
          id: node.id,
          label: box.nodes.length > 1 ? nameWithin(node) : node.label,
          name: node.label,
          ...(box.nodes.length > 1 && { parent: boxId(box.id) }),
          size: 10 + Math.min(22, 4 * Math.log2(1 + node.degree)),
          risk: node.risk_level ?? 'none',
          ...network,
        },
        classes: fresh.has(node.id) ? 'fresh' : '',
        position: places.get(node.id)!,
      }),
    );
    if (box.nodes.length === 1) return hosts;
    return [{ data: { id: boxId(box.id), label: box.id, box: true, ...network } }, ...hosts];
  });
  const lines = mostImportant(bundles, maxLines).map(
    ({ id, source, target, bytes, alerted }): ElementDefinition => ({
      data: { id, source, target, width: thickness(bytes), severity: alerted?.severity ?? 'none' },
      classes: fresh.has(id) ? 'fresh' : '',
    }),
  );
  return [...nodes, ...lines];
}

/** Updates the graph to these elements; existing elements are moved rather than replaced. */
function show(core: Core, next: readonly ElementDefinition[]): void {
  core.batch(() => {
    const ids = new Set(next.map(({ data }) => data.id));
    core
      .elements()
      .filter((element) => !ids.has(element.id()))
      .remove();
    for (const element of next) {
      const known = core.getElementById(element.data.id!);
      if (known.empty()) {
        core.add(element);
        continue;
      }
      if (!isSame(known.data(), element.data)) known.data(element.data);
      if (!known.hasClass('fresh') && element.classes === 'fresh') known.addClass('fresh');
      if (!known.isNode()) continue;
      const { x, y } = known.position();
      if (element.position !== undefined && (element.position.x !== x || element.position.y !== y))
        known.position(element.position);
      if (known.parent().first().id() !== element.data.parent) known.move({ parent: element.data.parent ?? null });
    }
  });
}

/** Minimum font size in screen pixels; when zoomed in, labels grow with the graph (`modelPx`). */
const namePx = 11;
const modelPx = 10;
/** Maximum number of labels drawn, zoomed out and zoomed in. */
const maxNames = { far: 45, close: 500 };
const risks = ['none', 'low', 'moderate', 'high', 'critical'];

/**
 * Returns the precedence of a label. Selected and hovered nodes are labelled first, then hosts of moderate or higher
 * risk, networks, hosts of low risk, and all others. Among hosts of equal risk, those with more connections come first.
 */
function precedence(node: NodeSingular): number {
  if (node.hasClass('pointed') || node.hasClass('chosen')) return Number.POSITIVE_INFINITY;
  if (node.hasClass('dimmed')) return -1;
  const { size, risk } = node.data();
  if (size === undefined) return 150;
  // A host without a box can only be identified by its label.
  return 100 * risks.indexOf(risk) + size + (node.isOrphan() ? 8 : 0);
}

/** Labels all visible nodes that fit. */
function nameNodes(core: Core): void {
  // A few events fire after the graph was destroyed.
  if (core.destroyed()) return;
  const zoom = core.zoom();
  const fontPx = Math.max(namePx, modelPx * zoom);
  const labels = core
    .nodes()
    .toArray()
    .map((node) => ({ node, box: node.renderedBoundingBox({ includeLabels: false }) }))
    .filter(({ box: { x1, x2, y1, y2 } }) => x2 > 0 && y2 > 0 && x1 < core.width() && y1 < core.height())
    .sort((a, b) => precedence(b.node) - precedence(a.node))
    .map(({ node, box: { x1, x2, y1, y2 } }) => ({
      id: node.id(),
      text: node.data(node.hasClass('pointed') && !node.isOrphan() ? 'name' : 'label') as string,
      x: (x1 + x2) / 2,
      y: node.data('box') ? y1 - 1.25 * fontPx : node.data('closed') ? (y1 + y2) / 2 - 1.25 * fontPx : y2,
    }));
  const named = roomFor(labels, fontPx, zoom < 1 ? maxNames.far : maxNames.close);
  const font = {
    'font-size': fontPx / zoom,
    'text-max-width': `${(maxCharacters * characterWidth * fontPx) / zoom}px`,
  };
  core.batch(() => {
    core.nodes().forEach((node) => {
      node.toggleClass('named', named.has(node.id()));
      if (named.has(node.id())) node.style(font);
    });
  });
}

const isSame = (known: Record<string, unknown>, next: Record<string, unknown>): boolean =>
  Object.entries(next).every(([name, value]) => known[name] === value);

/** Shapes in the middle of lines with alerts. They do not indicate a direction. */
const marks = {
  medium: { 'mid-target-arrow-shape': 'circle', 'mid-target-arrow-fill': 'hollow' },
  high: { 'mid-target-arrow-shape': 'circle' },
  critical: { 'mid-target-arrow-shape': 'diamond' },
} as const;

function styles(): StylesheetJson {
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string) => style.getPropertyValue(name).trim();
  return [
    {
      selector: 'node',
      style: {
        color: colour('--quiet'),
        'font-family': 'monospace',
        'text-background-color': colour('--ground'),
        'text-background-opacity': 0.7,
        'background-color': colour('--line-strong'),
        'border-width': 1,
        'border-color': colour('--quiet'),
        'text-valign': 'bottom',
        'text-wrap': 'ellipsis',
        'text-margin-y': 2,
      },
    },
    { selector: 'node.named', style: { label: 'data(label)' } },
    { selector: 'node.pointed[name]', style: { label: 'data(name)' } },
    { selector: 'node[size]', style: { width: 'data(size)', height: 'data(size)' } },
    {
      selector: 'node[?box]',
      style: {
        shape: 'round-rectangle',
        'background-color': colour('--panel'),
        'background-opacity': 0.6,
        'border-color': colour('--line-strong'),
        'text-valign': 'top',
        padding: '12px',
      },
    },
    {
      selector: 'node[?closed]',
      style: {
        shape: 'round-rectangle',
        width: 124,
        height: 36,
        'background-color': colour('--raised'),
        'text-background-opacity': 0,
        'text-valign': 'center',
        'text-margin-y': 0,
        'text-wrap': 'wrap',
      },
    },
    // Colour marks risk, alerts and new elements; shapes and borders repeat it for colour-blind users.
    {
      selector: 'node[risk = "critical"]',
      style: { 'background-color': colour('--critical'), shape: 'diamond' },
    },
    {
      selector: 'node[risk = "high"]',
      style: { 'background-color': colour('--high'), shape: 'round-triangle' },
    },
    {
      selector: 'node.fresh',
      style: { 'border-color': colour('--accent'), 'border-width': 3, 'border-style': 'dashed' },
    },
    // A new node at risk is dashed in the colour of its risk.
    { selector: 'node[risk = "moderate"]', style: { 'border-color': colour('--medium'), 'border-width': 3 } },
    {
      selector: 'edge',
      style: {
        width: 'data(width)',
        'line-color': colour('--previous'),
        'line-opacity': 0.35,
        'curve-style': 'straight',
      },
    },
    {
      selector: 'edge.fresh',
      style: { 'line-color': colour('--accent'), 'line-opacity': 0.9, 'line-style': 'dashed' },
    },
    ...Object.entries(marks).map(([severity, mark]) => ({
      selector: `edge[severity = "${severity}"]`,
      style: {
        'line-color': colour(`--${severity}`),
        'line-opacity': 0.9,
        'mid-target-arrow-color': colour(`--${severity}`),
        ...mark,
        'arrow-scale': 1.2,
        'z-index': 1,
      },
    })),
    {
      selector: 'edge.chosen[severity = "none"]',
      style: { 'line-color': colour('--accent'), 'line-opacity': 0.8 },
    },
    { selector: 'node.chosen', style: { 'border-color': colour('--accent'), 'border-width': 3 } },
    { selector: '.dimmed', style: { opacity: 0.12 } },
  ] as unknown as StylesheetJson;
}
