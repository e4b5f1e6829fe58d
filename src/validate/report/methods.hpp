// What tells arithmetics apart in every plot of a report: a colour, a dash, and a marker.
#pragma once

#include <string>
#include <vector>

namespace trine::validation::report {

enum class Marker { circle, square, diamond, up, down, cross, plus, hexagon };

/// Class of the style sheet, which has the colour and the dash.
std::string method_class(const std::string& arithmetic);
Marker method_marker(const std::string& arithmetic);

/// Path data of a marker with "radius" `r` around (x, y).
std::string marker_path(Marker marker, double x, double y, double r = 3.6);

/// A line of keys to the arithmetics named.
std::string legend(const std::vector<std::string>& arithmetics);
/// A line of keys to markers that stand for something else.
std::string marker_legend(const std::vector<std::pair<Marker, std::string>>& markers);

}  // namespace trine::validation::report
