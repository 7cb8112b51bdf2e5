# size_plot.awk -- time against calls, both logarithmic, as SVG: what row_size.sh measured.
# Input: a line for each run: calls, seconds by the clock, seconds of processor time.

BEGIN {
    width = 600; height = 380; left = 70; right = 180; top = 30; bottom = 50
    colour["wall"] = "#1f6feb"; colour["processor"] = "#d1660a"
    word["wall"] = "by the clock"; word["processor"] = "of processor"
}
{ calls[NR] = $1; value["wall", NR] = $2; value["processor", NR] = $3 }

function log10(x) { return log(x) / log(10) }
function floor(x) { return int(x) - (x < int(x)) }
function ceiling(x) { return -floor(-x) }
function at_x(x) { return left + (log10(x) - x0) / (x1 - x0) * (width - left - right) }
function at_y(y) { return height - bottom - (log10(y) - y0) / (y1 - y0) * (height - top - bottom) }
function line(a, b, c, d, how) {
    printf "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" %s/>\n", a, b, c, d, how
}
function text(x, y, anchor, what, how) {
    printf "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" %s>%s</text>\n", x, y, anchor, how, what
}
function power(kind) {
    return log(value[kind, NR] / value[kind, 1]) / log(calls[NR] / calls[1])
}
function draw(kind,   i, path) {
    for (i = 1; i <= NR; i++) {
        path = path sprintf("%s%.1f %.1f", i == 1 ? "M" : " L", at_x(calls[i]), at_y(value[kind, i]))
        printf "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\" fill=\"%s\"/>\n", at_x(calls[i]), at_y(value[kind, i]), colour[kind]
    }
    printf "<path d=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"/>\n", path, colour[kind]
}
# Labels stand beside the last points, apart even where these are not.
function label(kind, y) {
    text(at_x(calls[NR]) + 10, y, "start", sprintf("%s: calls^%.2f", word[kind], power(kind)), "fill=\"" colour[kind] "\"")
}

END {
    if (NR < 2)
        exit 1
    x0 = log10(calls[1]); x1 = log10(calls[NR]); y0 = 9; y1 = -9
    for (i = 1; i <= NR; i++)
        for (kind in colour) {
            low = floor(log10(value[kind, i])); high = ceiling(log10(value[kind, i]))
            y0 = low < y0 ? low : y0; y1 = high > y1 ? high : y1
        }
    printf "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"12\">\n", width, height
    printf "<title>Time of snag analyze against calls</title>\n<rect width=\"%d\" height=\"%d\" fill=\"white\"/>\n", width, height
    text(left, 18, "start", "snag analyze: time against calls", "font-weight=\"bold\"")
    for (y = y0; y <= y1; y++) {
        line(left, at_y(10 ^ y), width - right, at_y(10 ^ y), "stroke=\"#ddd\"")
        text(left - 8, at_y(10 ^ y) + 4, "end", sprintf("%g s", 10 ^ y), "")
    }
    for (x = ceiling(x0 - 0.01); x <= x1 + 0.01; x++) {
        line(at_x(10 ^ x), top, at_x(10 ^ x), height - bottom, "stroke=\"#ddd\"")
        text(at_x(10 ^ x), height - bottom + 18, "middle", sprintf("1e%d", x), "")
    }
    text((left + width - right) / 2, height - 12, "middle", "calls", "")
    # from the first point on, in proportion to calls
    line(at_x(calls[1]), at_y(value["processor", 1]), at_x(calls[NR]), at_y(value["processor", 1] * calls[NR] / calls[1]), "stroke=\"#888\" stroke-dasharray=\"5 4\"")
    y = at_y(value["processor", 1] * calls[NR] / calls[1])
    text(at_x(calls[NR]) + 10, y + 26, "start", "in proportion", "fill=\"#666\"")
    draw("wall"); draw("processor")
    label("wall", y - 10); label("processor", y + 8)
    print "</svg>"
}
